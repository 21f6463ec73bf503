#include "core/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace fanin {
namespace {

/// Whether each part runs exactly once.
bool runs_each_part_once(ThreadPool& pool, int part_count) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(pool.thread_count()));
  pool.run(part_count, [&](int index) { ++calls[static_cast<std::size_t>(index)]; });
  for (int index = 0; index < pool.thread_count(); ++index)
    if (calls[static_cast<std::size_t>(index)] != (index < part_count ? 1 : 0)) return false;
  return true;
}

TEST(ThreadPool, RunsEachPartOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int parts = 0; parts <= threads; ++parts)
      EXPECT_TRUE(runs_each_part_once(pool, parts)) << parts << " parts, " << threads << " threads";
  }
}

TEST(ThreadPool, RunsManyShortJobsInARow) {
  ThreadPool pool(3);
  std::array<int, 3> sums{};  // plain: what a part wrote is seen when run() has returned
  for (int job = 0; job < 20'000; ++job) {
    const int parts = job % 4;
    pool.run(parts, [&](int index) { ++sums[static_cast<std::size_t>(index)]; });
  }
  EXPECT_EQ(sums, (std::array<int, 3>{15'000, 10'000, 5'000}));
}

TEST(ThreadPool, WakesHelpersThatSleep) {
  ThreadPool pool(2);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(runs_each_part_once(pool, 2));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(ThreadPool, LetsHelpersHelp) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  // Each part waits for the other: it ends only if two threads are inside at once.
  pool.run(2, [&](int) {
    ++arrived;
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(ThreadPool, MayBeCalledFromWithinAPart) {
  ThreadPool pool(4);
  std::atomic<int> inner{0};
  for (int i = 0; i < 100; ++i)
    pool.run(4, [&](int) { pool.run(3, [&](int) { pool.run(2, [&](int) { ++inner; }); }); });
  EXPECT_EQ(inner.load(), 100 * 4 * 3 * 2);
  EXPECT_TRUE(runs_each_part_once(pool, 4));
}

TEST(ThreadPool, MayBeCalledFromSeveralThreadsAtOnce) {
  ThreadPool pool(2);
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> callers;
    callers.reserve(4);
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        for (int job = 0; job < 2000; ++job)
          if (!runs_each_part_once(pool, 2)) ++failures;
      });
  }
  EXPECT_EQ(failures.load(), 0);
}

TEST(ThreadPool, EndsWithHelpersThatNeverStartedSpinOrSleep) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool idle(3);
    ThreadPool spinning(3);
    spinning.run(3, [](int) {});
  }
  ThreadPool sleeping(3);
  sleeping.run(3, [](int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST(ThreadPool, UsesNoMoreCoresThanAllowed) {
  EXPECT_GE(usable_core_count(), 1);
  EXPECT_LE(usable_core_count(), static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)));
}

/// Runs `child` in a forked process that must end well within seconds.
template <typename Child>
void expect_child_succeeds(const Child& child) {
  const pid_t process = ::fork();
  ASSERT_NE(process, -1);
  if (process == 0) {
    ::alarm(20);
    ::_exit(child() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

#if !defined(__SANITIZE_THREAD__)  // which does not follow threads through a fork
TEST(ThreadPool, WorksInAForkedChild) {
  auto pool = std::make_unique<ThreadPool>(3);
  ASSERT_TRUE(runs_each_part_once(*pool, 3));
  for (int i = 0; i < 10; ++i)
    expect_child_succeeds([&] {
      for (int job = 0; job < 100; ++job)
        if (!runs_each_part_once(*pool, 3)) return false;
      pool.reset();  // must not wait for threads that only the parent has
      return true;
    });
  EXPECT_TRUE(runs_each_part_once(*pool, 3));
}

TEST(ThreadPool, WorksInAChildThatWasForkedDuringAJob) {
  ThreadPool pool(2);
  std::atomic<bool> started{false};
  std::atomic<bool> may_end{false};
  std::jthread caller([&] {
    pool.run(2, [&](int) {
      started = true;
      while (!may_end) std::this_thread::yield();
    });
  });
  while (!started) std::this_thread::yield();
  expect_child_succeeds([&] { return runs_each_part_once(pool, 2); });
  may_end = true;
}
#endif

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which need address space
TEST(ThreadPool, DoesWithFewerThreadsIfTheSystemRefuses) {
  expect_child_succeeds([] {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    // Room for what the test itself needs, but not for the stack of a thread.
    const auto limit = static_cast<rlim_t>(pages) * 4096 + (1 << 20);
    const rlimit address_space{limit, limit};
    if (::setrlimit(RLIMIT_AS, &address_space) != 0) return false;
    ThreadPool pool(64);  // more than the stacks that the C library keeps of ended threads
    return runs_each_part_once(pool, 64) && runs_each_part_once(pool, 64);
  });
}
#endif

}  // namespace
}  // namespace fanin
