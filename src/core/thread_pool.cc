#include "core/thread_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <system_error>

#include "core/pause.h"

namespace fanin {
namespace {

// About 20 us: longer than the gap between two sums of a list, shorter than anybody would notice
// on a core that they want for themselves.
constexpr int kSpins = 4000;

/// Moves this thread to another core than `busy_core`, if it is there and may. Schedulers like to
/// wake a thread on the core of whoever woke it, where it would only take turns with it.
void leave_core(int busy_core) {
  if (busy_core < 0 || ::sched_getcpu() != busy_core) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(busy_core), &others);
  if (CPU_COUNT(&others) == 0) return;
  if (::sched_setaffinity(0, sizeof others, &others) == 0)
    ::sched_setaffinity(0, sizeof all, &all);  // it stays where it is, and may be moved again
}

}  // namespace

int usable_core_count() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

bool ThreadPool::Offer::try_take() {
  State offered = State::kOffered;
  return state.compare_exchange_strong(offered, State::kTaken, std::memory_order_acquire,
                                       std::memory_order_relaxed);
}

ThreadPool::ThreadPool(int thread_count)
    : thread_count_(thread_count), offers_(static_cast<std::size_t>(thread_count - 1)) {}

ThreadPool::~ThreadPool() {
  for (Offer& offer : offers_) {
    offer.state.store(State::kStopped);
    offer.state.notify_all();
  }
  for (std::thread& helper : helpers_) {
    if (helpers_process_ == ::getpid())
      helper.join();
    else
      helper.detach();  // only the parent has it
  }
}

void ThreadPool::start_helpers() {
  helpers_process_ = ::getpid();
  helpers_.reserve(offers_.size());
  try {
    for (int index = 1; index < thread_count_; ++index)
      helpers_.emplace_back([this, index] { help(index); });
  } catch (const std::system_error&) {
    // The system has no more threads for us. Nobody waits for a helper, so fewer will do.
  }
}

void ThreadPool::help(int index) {
  Offer& offer = offers_[static_cast<std::size_t>(index - 1)];
  for (int spins = 0;;) {
    const State state = offer.state.load(std::memory_order_relaxed);
    if (state == State::kStopped) return;
    if (state == State::kOffered) {
      if (offer.try_take()) {
        offer.call(offer.body, index);
        offer.state.store(State::kIdle, std::memory_order_release);
      }
      spins = 0;
    } else if (++spins < kSpins) {
      pause_core();
    } else {
      // Offered after this look: the wait ends at once. Offered later: the caller sees a sleeper.
      sleepers_.fetch_add(1);
      offer.state.wait(state);
      sleepers_.fetch_sub(1);
      leave_core(waking_core_.load(std::memory_order_relaxed));
      spins = 0;
    }
  }
}

void ThreadPool::wake_sleepers(int part_count) {
  waking_core_.store(::sched_getcpu(), std::memory_order_relaxed);
  for (int index = 1; index < part_count; ++index)
    offers_[static_cast<std::size_t>(index - 1)].state.notify_all();
}

void ThreadPool::run(int part_count, Call call, const void* body) {
  assert(part_count <= thread_count_);
  if (part_count <= 1 || thread_count_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
    for (int index = 0; index < part_count; ++index) call(body, index);
    return;
  }
  if (helpers_.empty()) start_helpers();

  for (int index = 1; index < part_count; ++index) {
    Offer& offer = offers_[static_cast<std::size_t>(index - 1)];
    offer.call = call;
    offer.body = body;
    offer.state.store(State::kOffered);  // in one order with sleepers_
  }
  if (sleepers_.load() != 0) wake_sleepers(part_count);

  call(body, 0);
  for (int index = 1; index < part_count; ++index) {
    Offer& offer = offers_[static_cast<std::size_t>(index - 1)];
    if (!offer.try_take()) continue;
    call(body, index);
    offer.state.store(State::kIdle, std::memory_order_release);
  }
  for (int index = 1; index < part_count; ++index) {
    const Offer& offer = offers_[static_cast<std::size_t>(index - 1)];
    for (int spins = 0; offer.state.load(std::memory_order_acquire) != State::kIdle; ++spins) {
      if (spins < kSpins)
        pause_core();
      else
        std::this_thread::yield();
    }
  }
  busy_.store(false, std::memory_order_release);
}

}  // namespace fanin
