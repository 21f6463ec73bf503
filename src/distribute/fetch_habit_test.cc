#include "distribute/fetch_habit.h"

#include <gtest/gtest.h>

namespace fanin {
namespace {

constexpr std::size_t kMiB = 1 << 20;

/// Calls where fetching takes so many times as long as windows do; how many fetch.
int count_fetching(FetchHabit& habit, std::size_t bytes, double times, int calls) {
  int count = 0;
  for (int i = 0; i < calls; ++i) {
    const FetchHabit::Choice choice = habit.next(bytes);
    count += choice.fetches ? 1 : 0;
    if (choice.is_timed) habit.tell(bytes, choice.fetches, choice.fetches ? times : 1);
  }
  return count;
}

TEST(FetchHabit, IsMadeWithinSixCalls) {
  FetchHabit habit;
  count_fetching(habit, kMiB, 0.5, 6);
  EXPECT_EQ(count_fetching(habit, kMiB, 0.5, 20), 20);
}

TEST(FetchHabit, IsWindowsWhereTheyAreNotSlower) {
  FetchHabit habit;
  count_fetching(habit, kMiB, 1, 10);
  EXPECT_LE(count_fetching(habit, kMiB, 1, 1280), 10);
}

TEST(FetchHabit, IsAnotherForOtherSizes) {
  FetchHabit habit;
  count_fetching(habit, kMiB, 0.5, 20);
  count_fetching(habit, 16 * kMiB, 2, 20);
  EXPECT_EQ(count_fetching(habit, kMiB + 4, 0.5, 20), 20);
  EXPECT_EQ(count_fetching(habit, 16 * kMiB, 2, 20), 0);
}

}  // namespace
}  // namespace fanin
