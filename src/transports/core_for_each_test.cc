#include "transports/core_for_each.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>
#include <numeric>
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
  EXPECT_TRUE(find_core_use(as_many).have_one_each);
  std::vector<pid_t> one_more = as_many;
  one_more.push_back(self);
  EXPECT_FALSE(find_core_use(one_more).have_one_each);
}

TEST(CoreForEach, OneThatHasEndedNeedsNone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::vector<pid_t> processes(CPU_SETSIZE + 1, child);
  EXPECT_TRUE(find_core_use(processes).have_one_each);
}

TEST(CoreMates, StayOnTheSameCore) {
  const auto mates = [](std::initializer_list<cpu_set_t> sets) {
    return find_core_mates(std::vector<cpu_set_t>(sets));
  };
  EXPECT_EQ(mates({set_of({3}), set_of({1}), set_of({3}), set_of({1})}), (std::vector{0, 1, 0, 1}));
  EXPECT_EQ(mates({set_of({0, 1}), set_of({0}), set_of({0})}), (std::vector{0, 1, 2}))
      << "one may move";
  const std::vector<cpu_set_t> many(kMostCoreMates + 1, set_of({0}));
  EXPECT_EQ(find_core_mates(many)[kMostCoreMates], static_cast<int>(kMostCoreMates));
}

TEST(CoreUse, IsToldInAWord) {
  for (const CoreUse& use : {CoreUse{true, {0, 1}}, CoreUse{false, {0, 1, 0, 1, 4}},
                             CoreUse{false, {0}}, CoreUse{false, std::vector<int>(16, 0)}}) {
    EXPECT_NE(use.pack(), 0U);
    EXPECT_EQ(CoreUse::unpack(use.pack(), use.core_mates.size()), use);
  }
  CoreUse many{false, std::vector<int>(40)};
  std::iota(many.core_mates.begin(), many.core_mates.end(), 0);
  EXPECT_EQ(CoreUse::unpack(many.pack(), 40), many);
}

}  // namespace
}  // namespace fanin
