#include "distribute/fetch_habit.h"

#include <bit>

namespace fanin {
namespace {

// Every call before the habit is made is timed; the first of each way touches memory that nobody
// has touched before.
constexpr BetterWay::Rules kRules{.leave = {1.05, 1.05}, .soon = 2, .first_doubts = 2};

}  // namespace

FetchHabit::Choice FetchHabit::next(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto [way, is_timed] =
      ways_.try_emplace(std::bit_width(bytes), kRules).first->second.next();
  return {.fetches = way == 1, .is_timed = is_timed};
}

void FetchHabit::tell(std::size_t bytes, bool fetched, double seconds) {
  const std::lock_guard lock(mutex_);
  ways_.at(std::bit_width(bytes)).tell(fetched ? 1 : 0, seconds / static_cast<double>(bytes));
}

}  // namespace fanin
