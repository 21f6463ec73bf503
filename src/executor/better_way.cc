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
  return {1 - usual_, true};
}

void BetterWay::tell(std::size_t way, double cost) {
  if (way == usual_) {
    usual_cost_ = cost;
    return;
  }
  const bool dissents = usual_cost_ > rules_.leave[usual_] * cost;
  dissents_ = dissents ? dissents_ + 1 : 0;
  if (++comparisons_ <= rules_.first_doubts || dissents) until_timed_ = rules_.soon;
  if (dissents_ < kWantedDissents) return;
  usual_ = 1 - usual_;
  dissents_ = 0;
}

}  // namespace fanin
