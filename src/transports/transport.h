#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fanin {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The deadline `timeout` from now; one too long to be counted never comes.
inline Deadline deadline_after(std::chrono::duration<double> timeout) {
  constexpr std::chrono::duration<double> kForever = std::chrono::hours(24 * 365 * 100);
  if (timeout >= kForever) return Deadline::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
}

/// What a rank may do with another rank's data.
enum class Sight : std::uint8_t {
  kMemory,   // read and write its buffers
  kWindow,   // read the slots of its window
  kMessage,  // receive what it sends
};

/// The ranks of one group on one host, as one of them sees it. One object per rank; its functions
/// are called by one thread at a time.
///
/// Each rank owns a window of bytes, a call line and a row of flags. Its own it writes, those of
/// others it only reads. A flag is a number that grows over the life of the group and is never set
/// back.
///
/// Destroying the object means that its rank leaves: whoever waits for more than it has published
/// gets PeerFailure.
class Transport {
 public:
  /// Bytes of a call line: what a rank says about the operation that it enters.
  static constexpr std::size_t kCallLineBytes = 64;

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string_view name() const = 0;

  /// What this rank may do with the data of `peer`.
  virtual Sight sight(int peer) const = 0;

  /// The window of a rank: 64-byte aligned, the same size for all ranks.
  virtual std::span<std::byte> window(int rank) = 0;

  /// The call line of a rank: kCallLineBytes, 64-byte aligned.
  virtual std::span<std::byte> call_line(int rank) = 0;

  /// How many flags a rank has: at least 64. Flag 0 counts the operations whose call line the rank
  /// has written, flag 1 what it has completed; the others belong to the executor's levels.
  virtual int flag_count() const = 0;

  /// Sets one of this rank's flags: everything that this rank wrote before is visible to whoever
  /// sees the value. Values must not decrease.
  virtual void publish(int flag, std::uint64_t value) = 0;

  /// The present value of a flag, with acquire order.
  virtual std::uint64_t peek(int rank, int flag) const = 0;

  /// Returns when the flag has reached `value`. Spins, yields, then sleeps. Throws DeadlineExceeded
  /// at the deadline and PeerFailure when that rank is dead and has not published the value; the
  /// message names this rank, the peer, and `what`, which says what for ("all-reduce 3, ...").
  virtual void wait(int rank, int flag, std::uint64_t value, Deadline deadline,
                    std::string_view what) = 0;
};

}  // namespace fanin
