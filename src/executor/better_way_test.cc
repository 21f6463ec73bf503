#include "executor/better_way.h"

#include <gtest/gtest.h>

namespace fanin {
namespace {

constexpr BetterWay::Rules kRules{.leave = {1.1, 1.1}, .soon = 3, .first_doubts = 2};

/// Calls with these costs; how many went the second way.
int count_second(BetterWay& ways, std::array<double, 2> costs, int calls) {
  int count = 0;
  for (int i = 0; i < calls; ++i) {
    const BetterWay::Choice choice = ways.next();
    count += static_cast<int>(choice.way);
    if (choice.is_timed) ways.tell(choice.way, costs[choice.way]);
  }
  return count;
}

TEST(BetterWay, IsTakenSoon) {
  BetterWay ways(kRules);
  count_second(ways, {2, 1}, 6);
  EXPECT_EQ(ways.usual(), 1U);
  EXPECT_GE(count_second(ways, {2, 1}, 1280), 1267);
}

TEST(BetterWay, IsTheFirstIfTheyAreAlike) {
  BetterWay ways(kRules);
  EXPECT_LE(count_second(ways, {1.05, 1}, 1280), 13);
  EXPECT_EQ(ways.usual(), 0U);
}

TEST(BetterWay, IsLookedForAgain) {
  BetterWay ways(kRules);
  for (int i = 0; i < 3; ++i) {
    count_second(ways, {2, 1}, 300);
    EXPECT_EQ(ways.usual(), 1U);
    count_second(ways, {1, 2}, 300);
    EXPECT_EQ(ways.usual(), 0U);
  }
}

// What is slow at first, since nobody has touched its memory yet, is tried again before long.
TEST(BetterWay, IsFoundSoonAlsoIfItBeginsSlowly) {
  BetterWay ways(kRules);
  count_second(ways, {2, 9}, 3);
  count_second(ways, {2, 1}, 6);
  EXPECT_EQ(ways.usual(), 1U);
  BetterWay without({.leave = {1.1, 1.1}, .soon = 3});
  count_second(without, {2, 9}, 3);
  count_second(without, {2, 1}, 100);
  EXPECT_EQ(without.usual(), 0U);
}

TEST(BetterWay, IsFoundAmongThree) {
  for (std::size_t best = 0; best < 3; ++best) {
    BetterWay ways({.leave = {1.1, 1.1, 1.1}, .soon = 2, .first_doubts = 2, .way_count = 3});
    std::array<double, 3> costs = {3, 3, 3};
    costs[best] = 1;
    std::array<int, 3> counts = {};
    for (int i = 0; i < 1000; ++i) {
      const BetterWay::Choice choice = ways.next();
      ++counts[choice.way];
      if (choice.is_timed) ways.tell(choice.way, costs[choice.way]);
    }
    EXPECT_EQ(ways.usual(), best);
    EXPECT_GE(counts[best], 980);
    for (const int count : counts) EXPECT_GE(count, 5) << "each is tried again";
  }
}

}  // namespace
}  // namespace fanin
