#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fanin {

/// A number that grows, how many sleep until it does, and a few words that change with it: all in
/// one cache line, so that a small message comes with its flag. Two cache lines long, since cores
/// fetch lines in pairs. It works between threads and, in shared memory, between processes.
struct alignas(128) Flag {
  std::atomic<std::uint64_t> value{0};
  std::atomic<std::uint32_t> sleepers{0};
  std::array<std::atomic<std::uint64_t>, 6> message{};
};
static_assert(offsetof(Flag, message) + sizeof(Flag::message) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "a lock inside of an atomic would not work between processes");

/// Who makes sure that either the publisher sees the sleeper or the sleeper sees the new value. All
/// ranks of a group must use the same.
enum class WakeOrder : std::uint8_t {
  kSleeperPays,  // by membarrier: publishing is a store and a load
  kBothPay,      // by a locked instruction on both sides: works everywhere
};

/// Registers this process for membarrier and says which order it can take part in.
WakeOrder prepare_wake_order();

/// How long to be awake while waiting, and how often to look around when asleep.
struct WaitTuning {
  int spins = 200000;  // some milliseconds
  int yields = 0;
  std::chrono::microseconds idle_time{0};  // to yield after that, as long as the core is idle

  /// The longest sleep before the deadline and the peer's life are looked at again.
  std::chrono::milliseconds slice{25};
};

/// For a thread that has work beside it: it spins no longer than a peer takes that is in the same
/// step. Then it is awake only while nobody else takes the core (yield_while_idle).
WaitTuning tuning_in_background(const WaitTuning& tuning);

/// Spins only if each rank can have a core of its own: otherwise whoever spins keeps the one that
/// it waits for from running.
WaitTuning tuning_for(bool ranks_have_core_each);

/// For ranks that are threads of this process.
WaitTuning tuning_for_threads(int rank_count);

void wake_sleepers(Flag& flag);

/// Sets the flag; whoever sees the value sees all that this thread wrote before.
inline void publish_flag(Flag& flag, std::uint64_t value, WakeOrder order) {
  flag.value.store(value, std::memory_order_release);
  std::uint32_t sleepers;
  if (order == WakeOrder::kSleeperPays) {
    // The core may still do this load before that store; the sleeper's membarrier forbids it. Only
    // the compiler must be told.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    sleepers = flag.sleepers.load(std::memory_order_relaxed);
  } else {
    // Both sides change `sleepers`, so one comes first: if the sleeper, it is seen here; if this,
    // it releases the value to the sleeper.
    sleepers = flag.sleepers.fetch_add(0, std::memory_order_acq_rel);
  }
  if (sleepers != 0) [[unlikely]]
    wake_sleepers(flag);
}

/// Whether the flag reached `wanted` while spinning and yielding.
bool spin_until(const Flag& flag, std::uint64_t wanted, const WaitTuning& tuning);

/// Sleeps until the flag changes, has reached `wanted`, or `limit` is over. Returns whether it has
/// reached `wanted`; it may also return false early.
bool sleep_until(Flag& flag, std::uint64_t wanted, std::chrono::nanoseconds limit, WakeOrder order);

}  // namespace fanin
