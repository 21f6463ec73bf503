#include "distribute/unseen_habit.h"

#include <algorithm>
#include <array>
#include <bit>

namespace fanin {
namespace {

using enum UnseenWay;

/// In the order in which they are tried.
struct Ways {
  explicit Ways(const UnseenHabit::Possible& possible) {
    if (possible.pads) ways[count++] = kPads;
    ways[count++] = kWindows;
    if (possible.fetch) ways[count++] = kFetch;
  }
  std::size_t index_of(UnseenWay way) const {
    return static_cast<std::size_t>(std::ranges::find(ways, way) - ways.begin());
  }

  std::array<UnseenWay, BetterWay::kMostWays> ways = {};
  std::size_t count = 0;
};

// Every call before the habit is made is timed; the first of each way touches memory that nobody
// has touched before.
BetterWay::Rules rules(std::size_t way_count) {
  return {.leave = {1.05, 1.05, 1.05}, .soon = 2, .first_doubts = 2, .way_count = way_count};
}

}  // namespace

UnseenHabit::Choice UnseenHabit::next(std::size_t bytes, const Possible& possible) {
  if (!possible.pads && !possible.fetch) return {};
  const Ways all(possible);
  const std::lock_guard lock(mutex_);
  const auto [way, is_timed] =
      ways_.try_emplace({std::bit_width(bytes), possible}, rules(all.count)).first->second.next();
  return {.way = all.ways[way], .is_timed = is_timed, .possible = possible};
}

void UnseenHabit::tell(std::size_t bytes, const Choice& choice, double seconds) {
  const std::lock_guard lock(mutex_);
  ways_.at({std::bit_width(bytes), choice.possible})
      .tell(Ways(choice.possible).index_of(choice.way), seconds / static_cast<double>(bytes));
}

}  // namespace fanin
