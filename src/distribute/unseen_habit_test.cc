#include "distribute/unseen_habit.h"

#include <gtest/gtest.h>

#include <map>

namespace fanin {
namespace {

using enum UnseenWay;
using Costs = std::map<UnseenWay, double>;

constexpr std::size_t kMiB = 1 << 20;
constexpr UnseenHabit::Possible kAll{.pads = true, .fetch = true};

/// How many calls go each way that take so long.
std::map<UnseenWay, int> count_calls(UnseenHabit& habit, std::size_t bytes, const Costs& costs,
                                     int calls, const UnseenHabit::Possible& possible = kAll) {
  std::map<UnseenWay, int> counts;
  for (int i = 0; i < calls; ++i) {
    const UnseenHabit::Choice choice = habit.next(bytes, possible);
    ++counts[choice.way];
    if (choice.is_timed) habit.tell(bytes, choice, costs.at(choice.way));
  }
  return counts;
}

TEST(UnseenHabit, IsMadeWithinTwelveCalls) {
  for (const UnseenWay best : {kPads, kWindows, kFetch}) {
    UnseenHabit habit;
    Costs costs{{kPads, 2}, {kWindows, 2}, {kFetch, 2}};
    costs[best] = 1;
    count_calls(habit, kMiB, costs, 12);
    EXPECT_EQ(count_calls(habit, kMiB, costs, 20)[best], 20);
  }
}

TEST(UnseenHabit, IsPadsWhereTheyAreNotSlower) {
  UnseenHabit habit;
  const Costs same{{kPads, 1}, {kWindows, 1}, {kFetch, 1}};
  count_calls(habit, kMiB, same, 12);
  EXPECT_GE(count_calls(habit, kMiB, same, 1280)[kPads], 1270);
}

TEST(UnseenHabit, IsOnlyWhatIsPossible) {
  UnseenHabit habit;
  const Costs costs{{kPads, 1}, {kWindows, 3}, {kFetch, 2}};
  EXPECT_EQ(count_calls(habit, kMiB, costs, 300, {})[kWindows], 300);
  EXPECT_EQ(count_calls(habit, kMiB, costs, 300, {.pads = true})[kFetch], 0);
  EXPECT_EQ(count_calls(habit, kMiB, costs, 300, {.fetch = true})[kPads], 0);
}

TEST(UnseenHabit, IsAnotherForOtherSizes) {
  UnseenHabit habit;
  const Costs short_costs{{kPads, 2}, {kWindows, 2}, {kFetch, 1}};
  const Costs long_costs{{kPads, 2}, {kWindows, 1}, {kFetch, 2}};
  count_calls(habit, kMiB, short_costs, 20);
  count_calls(habit, 16 * kMiB, long_costs, 20);
  EXPECT_EQ(count_calls(habit, kMiB + 4, short_costs, 20)[kFetch], 20);
  EXPECT_EQ(count_calls(habit, 16 * kMiB, long_costs, 20)[kWindows], 20);
}

}  // namespace
}  // namespace fanin
