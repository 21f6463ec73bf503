#include "executor/better_way.h"

namespace fanin {

namespace {

constexpr int kWantedDissents = 2;

}  // namespace

BetterWay::Choice BetterWay::next() {
  if (--until_timed_ > 1) [[likely]]
    return {usual_, false};
  if (until_timed_ == 1) return {usual_, true};
  until_timed_ = rules_.period;
  return {other_, true};
}

std::size_t BetterWay::next_other(std::size_t way) const {
  const std::size_t next = (way + 1) % rules_.way_count;
  return next == usual_ ? (next + 1) % rules_.way_count : next;
}

void BetterWay::tell(std::size_t way, double cost) {
  if (way == usual_) {
    usual_cost_ = cost;
    return;
  }
  const bool dissents = usual_cost_ > rules_.leave[usual_] * cost;
  dissents_ = dissents ? dissents_ + 1 : 0;
  const bool is_early = ++comparisons_ <= rules_.first_doubts * (rules_.way_count - 1);
  if (is_early || dissents) until_timed_ = rules_.soon;
  if (dissents_ == kWantedDissents) {
    usual_ = way;
    dissents_ = 0;
  }
  if (dissents_ == 0) other_ = next_other(way);
}

}  // namespace fanin
