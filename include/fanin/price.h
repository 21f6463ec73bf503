#pragma once

#include <cstddef>

#include "fanin/schedule.h"

namespace fanin {

/// A network of equal links between all ranks.
struct LinkModel {
  double latency_seconds = 0;
  double bytes_per_second = 0;
};

/// What a schedule costs.
struct Price {
  double seconds = 0;
  int hop_count = 0;               ///< messages of the longest chain that wait for each other
  std::size_t message_count = 0;   ///< of all ranks and blocks
  double most_sent_bytes = 0;      ///< by one rank; a fraction where chunks do not divide the data
  double most_received_bytes = 0;  ///< by one rank

  /// The part that faster links would not shorten: each hop's latency.
  double latency_seconds(const LinkModel& link) const { return hop_count * link.latency_seconds; }

  friend bool operator==(const Price&, const Price&) = default;
};

/// The simulated time of a schedule over `bytes` of data (all its chunks together, which are even).
///
/// - Every rank has one port out and one port in, which work at the same time. A message of m bytes
///   takes both its sender's and its receiver's for m / bandwidth, and is there a latency after it
///   has left: m / bandwidth + latency in all. Latency takes no port.
/// - A message leaves when what it carries is there and both ports are free. There is no barrier
///   between rounds. Of those that can leave at one time, the earlier block goes first, then the
///   one that is earlier in its sender's program.
/// - What a rank has itself, or one of its helpers, is free; so are sums, and memory for messages.
/// - With `block_count` k, every chunk is cut into k blocks that follow each other through the
///   steps. A chain of r hops with n bytes takes r * latency + (r + k - 1) * n / (k * bandwidth).
///
/// What is priced is the program of messages that the schedule is lowered to, not its steps: only
/// the program says what crosses a link (a step's own place does not), who talks to whom first
/// within a round, and which chunks travel together.
///
/// Throws InvalidArgument: kBadSchedule with what find_error() says, kBadOption for a latency below
/// 0, a bandwidth that is not above 0, blocks that are not from 1 to 4096, or more than 10 million
/// messages and sums of blocks.
Price price(const Schedule& schedule, std::size_t bytes, const LinkModel& link,
            int block_count = 1);

}  // namespace fanin
