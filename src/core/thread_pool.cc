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

ThreadPool::ThreadPool(int thread_count)
    : thread_count_(thread_count), taken_(static_cast<std::size_t>(thread_count)) {}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  job_.value.fetch_add(1);
  job_.value.notify_all();
  for (std::thread& helper : helpers_) {
    if (helpers_process_ == ::getpid())
      helper.join();
    else
      helper.detach();  // only the parent has it
  }
}

void ThreadPool::start_helpers() {
  helpers_process_ = ::getpid();
  helpers_.reserve(static_cast<std::size_t>(thread_count_ - 1));
  try {
    for (int index = 1; index < thread_count_; ++index)
      helpers_.emplace_back([this, index] { help(index); });
  } catch (const std::system_error&) {
    // The system has no more threads for us. Nobody waits for a helper, so fewer will do.
  }
}

void ThreadPool::take(int index, std::uint32_t job) {
  // Parts that this job does not have are marked as taken by run().
  std::uint32_t before = job - 1;
  if (!taken_[static_cast<std::size_t>(index)].value.compare_exchange_strong(before, job)) return;
  call_(body_, index);
  done_.value.fetch_add(1, std::memory_order_release);
}

void ThreadPool::help(int index) {
  std::uint32_t seen = 0;
  while (true) {
    for (int i = 0; i < kSpins && job_.value.load(std::memory_order_relaxed) == seen; ++i)
      pause_core();
    if (job_.value.load() == seen) {
      sleepers_.value.fetch_add(1);
      job_.value.wait(seen);
      sleepers_.value.fetch_sub(1);
      leave_core(waking_core_.load(std::memory_order_relaxed));
    }
    seen = job_.value.load();
    if (stop_.load()) return;
    take(index, seen);
  }
}

void ThreadPool::run(int part_count, Call call, const void* body) {
  assert(part_count <= thread_count_);
  if (part_count <= 1 || thread_count_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
    for (int index = 0; index < part_count; ++index) call(body, index);
    return;
  }
  if (helpers_.empty()) start_helpers();

  call_ = call;
  body_ = body;
  const std::uint32_t job = job_.value.load(std::memory_order_relaxed) + 1;
  const std::uint32_t done_before = done_.value.load(std::memory_order_relaxed);
  for (int index = 0; index < thread_count_; ++index)
    taken_[static_cast<std::size_t>(index)].value.store(index < part_count ? job - 1 : job,
                                                        std::memory_order_relaxed);
  job_.value.store(job);
  if (sleepers_.value.load() != 0) {
    waking_core_.store(::sched_getcpu(), std::memory_order_relaxed);
    job_.value.notify_all();
  }

  for (int index = 0; index < part_count; ++index) take(index, job);
  const std::uint32_t all = done_before + static_cast<std::uint32_t>(part_count);
  for (int i = 0; done_.value.load(std::memory_order_acquire) != all; ++i) {
    if (i < kSpins)
      pause_core();
    else
      std::this_thread::yield();
  }
  busy_.store(false, std::memory_order_release);
}

}  // namespace fanin
