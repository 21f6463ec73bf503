#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "distribute/lane.h"
#include "distribute/registered_pool.h"
#include "executor/window_plan.h"
#include "fanin/buffer.h"

namespace fanin {

/// Registered memory of this rank for slots that all ranks of a group write: a part for each lane.
/// Any thread may ask.
class Pad {
 public:
  static constexpr std::size_t kBytesOfLane = 1 << 20;

  /// Without a pool there is none.
  explicit Pad(std::shared_ptr<RegisteredPool> pool) : pool_(std::move(pool)) {}

  /// Made when first asked for, and empty if it cannot be: registered memory is full.
  std::span<std::byte> bytes();
  std::span<std::byte> of_lane(int lane) {
    return bytes().subspan(static_cast<std::size_t>(lane) * kBytesOfLane, kBytesOfLane);
  }

 private:
  std::shared_ptr<RegisteredPool> pool_;
  std::once_flag once_;
  Buffer buffer_;
};

/// The pads of all ranks, as a call on one lane knows them. Ranks tell each other by words of their
/// first message.
class Pads {
 public:
  using Words = std::array<std::uint64_t, 2>;

  Pads(Pad& mine, int lane, int rank_count);

  /// Says where this rank's pad is, if others may write there.
  std::optional<Words> tell(Transport& transport);

  /// Reads what a rank has told; once for each rank before look_up(). Throws PeerFailure if it
  /// points outside of its registered memory.
  void read(Transport& transport, int rank, const Words& words);

  /// The lane's parts, or if nobody has another operation under way those of the first lane, so
  /// that they stay in cache. Stays until the next read().
  WindowPlan::Rooms look_up(bool are_alone) const;

  /// To be called when a call is given up after tell(): whoever is late writes elsewhere. A rank
  /// that was alone may have been told to use the part of the first lane.
  void give_up(Transport& transport, bool is_alone);

 private:
  Pad& mine_;
  int lane_;
  std::array<std::vector<std::byte*>, Lane::kCount> begins_;  // [lane][rank]
  std::vector<std::uint64_t> renewal_counts_;
  std::vector<std::optional<Words>> last_words_;
};

}  // namespace fanin
