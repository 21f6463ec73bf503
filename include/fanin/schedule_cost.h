#pragma once

#include <cstdint>
#include <vector>

#include "fanin/schedule.h"

namespace fanin {

/// The chunks that go from one place to another, over all rounds.
struct LinkLoad {
  int from = 0;
  int to = 0;
  std::int64_t chunks = 0;

  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// What a schedule costs if its steps are done as they are written, which is how networks do them.
/// A source that is another place than the one that the step writes is a message.
struct ScheduleCost {
  int chunk_count = 0;
  int round_count = 0;
  std::int64_t message_count = 0;
  std::int64_t moved_chunks = 0;     ///< by all messages
  std::int64_t most_sent = 0;        ///< chunks that the busiest sender sends
  std::int64_t most_received = 0;    ///< chunks that the busiest receiver gets
  std::int64_t scratch_chunks = 0;   ///< cells of helpers that are written
  std::vector<LinkLoad> links = {};  ///< those that are used, by `from`, then by `to`

  /// How often the whole data this is: 1.5 if it is 6 of 4 chunks.
  double share(std::int64_t chunks) const {
    return static_cast<double>(chunks) / static_cast<double>(chunk_count);
  }

  friend bool operator==(const ScheduleCost&, const ScheduleCost&) = default;
};

/// Counts, and does not prove: a schedule that find_error() refuses has a cost as well.
ScheduleCost cost_of(const Schedule& schedule);

}  // namespace fanin
