#include "transports/core_for_each.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <vector>

namespace fanin {
namespace {

cpu_set_t set_of(std::initializer_list<std::size_t> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t core : cores) CPU_SET(core, &set);
  return set;
}

bool have_core_each_of(std::initializer_list<cpu_set_t> sets) {
  return have_core_each(std::vector<cpu_set_t>(sets));
}

TEST(CoreForEach, PinnedProcessesHaveTheirOwn) {
  EXPECT_TRUE(have_core_each_of({set_of({0}), set_of({1})}));
  EXPECT_FALSE(have_core_each_of({set_of({1}), set_of({1})}));
}

TEST(CoreForEach, ProcessesThatMayRunEverywhereShareAllCores) {
  EXPECT_TRUE(have_core_each_of({set_of({0, 1}), set_of({0, 1})}));
  EXPECT_FALSE(have_core_each_of({set_of({0, 1}), set_of({0, 1}), set_of({0, 1})}));
}

TEST(CoreForEach, ThoseWithFewCoresChooseFirst) {
  EXPECT_TRUE(have_core_each_of({set_of({0, 1, 2}), set_of({0, 1}), set_of({0})}));
  EXPECT_FALSE(have_core_each_of({set_of({0, 1, 1023}), set_of({0, 1}), set_of({0}), set_of({1})}));
}

TEST(CoreForEach, ThereIsAlwaysOneForNobody) { EXPECT_TRUE(have_core_each_of({})); }

TEST(CoreForEach, LooksAtWhereProcessesMayRun) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  const pid_t self = ::getpid();
  const std::vector<pid_t> as_many(static_cast<std::size_t>(CPU_COUNT(&all)), self);
  EXPECT_TRUE(have_core_each(as_many));
  std::vector<pid_t> one_more = as_many;
  one_more.push_back(self);
  EXPECT_FALSE(have_core_each(one_more));
}

TEST(CoreForEach, OneThatHasEndedNeedsNone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::vector<pid_t> processes(CPU_SETSIZE + 1, child);
  EXPECT_TRUE(have_core_each(processes));
}

}  // namespace
}  // namespace fanin
