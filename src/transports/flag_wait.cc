#include "transports/flag_wait.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <ctime>

#include "core/pause.h"
#include "core/thread_pool.h"
#include "core/yield_while_idle.h"

namespace fanin {
namespace {

/// The half of the value that changes with every step: what the kernel compares. Nobody sleeps
/// through 2^32 steps.
std::uint32_t* futex_word(Flag& flag) {
  static_assert(sizeof flag.value == 8);
  auto* halves = reinterpret_cast<std::uint32_t*>(&flag.value);
  return halves + (std::endian::native == std::endian::little ? 0 : 1);
}

// Not the PRIVATE forms: those find nobody in another process.
void futex_wait(Flag& flag, std::uint64_t seen, std::chrono::nanoseconds limit) {
  timespec time{};
  time.tv_sec = static_cast<std::time_t>(limit.count() / 1'000'000'000);
  time.tv_nsec = static_cast<long>(limit.count() % 1'000'000'000);
  // An early return is as good as a late one: the caller looks again.
  ::syscall(SYS_futex, futex_word(flag), FUTEX_WAIT, static_cast<std::uint32_t>(seen), &time,
            nullptr, 0);
}

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool reached(const Flag& flag, std::uint64_t wanted) {
  return flag.value.load(std::memory_order_acquire) >= wanted;
}

class Announcement {
 public:
  explicit Announcement(Flag& flag) : flag_(flag) {
    flag_.sleepers.fetch_add(1, std::memory_order_acq_rel);
  }
  ~Announcement() { flag_.sleepers.fetch_sub(1, std::memory_order_relaxed); }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  Flag& flag_;
};

}  // namespace

WakeOrder prepare_wake_order() {
  const bool works = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) &&
                     membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  return works ? WakeOrder::kSleeperPays : WakeOrder::kBothPay;
}

WaitTuning tuning_for(bool ranks_have_core_each) {
  WaitTuning tuning;
  if (!ranks_have_core_each) {
    tuning.spins = 0;
    // Some milliseconds at most, and only what nobody else wants of the core. A sleep costs more,
    // the more so where one waits for another, who waits for the next.
    tuning.yields = 1000;
  }
  return tuning;
}

WaitTuning tuning_in_background(const WaitTuning& tuning) {
  constexpr int kFewSpins = 1000;  // some 20 us
  return {.spins = std::min(tuning.spins, kFewSpins),
          .yields = 0,
          .idle_time = std::chrono::microseconds(500),
          .slice = tuning.slice};
}

WaitTuning tuning_for_threads(int rank_count) {
  return tuning_for(rank_count <= usable_core_count());
}

void wake_sleepers(Flag& flag) {
  ::syscall(SYS_futex, futex_word(flag), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool spin_until(const Flag& flag, std::uint64_t wanted, const WaitTuning& tuning) {
  if (reached(flag, wanted)) return true;
  for (int i = 0; i < tuning.spins; ++i) {
    pause_core();
    if (reached(flag, wanted)) return true;
  }
  for (int i = 0; i < tuning.yields; ++i) {
    ::sched_yield();
    if (reached(flag, wanted)) return true;
  }
  return tuning.idle_time.count() > 0 &&
         yield_while_idle(tuning.idle_time, [&] { return reached(flag, wanted); });
}

bool sleep_until(Flag& flag, std::uint64_t wanted, std::chrono::nanoseconds limit,
                 WakeOrder order) {
  const Announcement announcement(flag);
  if (order == WakeOrder::kSleeperPays) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  const std::uint64_t seen = flag.value.load(std::memory_order_acquire);
  if (seen >= wanted) return true;
  futex_wait(flag, seen, std::max(limit, std::chrono::nanoseconds(1)));
  return reached(flag, wanted);
}

}  // namespace fanin
