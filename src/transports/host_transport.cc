#include "transports/host_transport.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

#include "fanin/error.h"

namespace fanin {

HostTransport::HostTransport(std::shared_ptr<HostMemory> memory, int rank, WakeOrder order,
                             WaitTuning tuning)
    : memory_(std::move(memory)),
      rank_(rank),
      order_(order),
      tuning_(tuning),
      process_(::getpid()) {}

HostTransport::~HostTransport() {
  // A fork of this process inherits the object but is not the rank.
  if (::getpid() != process_) return;
  RankControl& mine = memory_->control(rank_);
  mine.left.store(1, std::memory_order_release);
  for (Flag& flag : mine.flags)
    if (flag.sleepers.load() != 0) wake_sleepers(flag);
}

Flag& HostTransport::flag_of(int rank, int flag) const {
  assert(rank >= 0 && rank < memory_->size() && flag >= 0 && flag < kHostFlagCount);
  return memory_->control(rank).flags[static_cast<std::size_t>(flag)];
}

void HostTransport::publish(int flag, std::uint64_t value) {
  Flag& mine = flag_of(rank_, flag);
  assert(value >= mine.value.load(std::memory_order_relaxed));
  publish_flag(mine, value, order_);
}

std::uint64_t HostTransport::peek(int rank, int flag) const {
  return flag_of(rank, flag).value.load(std::memory_order_acquire);
}

void HostTransport::wait(int rank, int flag, std::uint64_t value, Deadline deadline,
                         std::string_view what) {
  if (spin_until(flag_of(rank, flag), value, tuning_)) [[likely]]
    return;
  wait_asleep(rank, flag, value, deadline, what);
}

void HostTransport::wait_asleep(int rank, int flag, std::uint64_t value, Deadline deadline,
                                std::string_view what) {
  Flag& theirs = flag_of(rank, flag);
  const Deadline start = Clock::now();
  Deadline last_check = start;
  for (Deadline now = start;; now = Clock::now()) {
    const bool has_left = memory_->control(rank).left.load(std::memory_order_acquire) != 0;
    const bool is_late = now >= deadline;
    bool is_dead = false;
    if (is_late || now - last_check >= tuning_.slice) {
      is_dead = has_died(rank);
      last_check = now;
    }
    // Looked at after its end: what a rank has published before that counts.
    if (peek(rank, flag) >= value) return;
    if (has_left)
      throw PeerFailure(fmt::format("rank {} waited for {}, which has left the group: {}", rank_,
                                    describe(rank), what));
    if (is_dead)
      throw PeerFailure(
          fmt::format("rank {} waited for {}, which has died: {}", rank_, describe(rank), what));
    if (is_late)
      throw DeadlineExceeded(fmt::format(
          "rank {} waited {:.3g} s for {}, until the deadline: {} (flag {} is at {}, awaited {})",
          rank_, std::chrono::duration<double>(now - start).count(), describe(rank), what, flag,
          peek(rank, flag), value));
    const auto limit = std::min<Clock::duration>(tuning_.slice, deadline - now);
    if (sleep_until(theirs, value, limit, order_)) return;
  }
}

}  // namespace fanin
