#include "executor/slot_store.h"

namespace fanin {
namespace {

// Of caches that are shared it is 1.2, of those that are not 4.
constexpr double kMuchSlower = 2;
constexpr double kHardlySlower = 1.5;
constexpr int kWantedDissents = 2;

Store other(Store store) { return store == Store::kCached ? Store::kStreaming : Store::kCached; }

}  // namespace

SlotStore::Choice SlotStore::next() {
  if (--until_timed_ > 1) [[likely]]
    return {usual_, false};
  if (until_timed_ == 1) return {usual_, true};
  until_timed_ = kPeriod;
  return {other(usual_), true};
}

void SlotStore::tell(Store store, double seconds, std::size_t bytes) {
  if (bytes == 0) return;
  const double cost = seconds / static_cast<double>(bytes);
  if (store == usual_)
    usual_cost_ = cost;
  else if (usual_ == Store::kCached)
    compare(usual_cost_, cost);
  else
    compare(cost, usual_cost_);
}

void SlotStore::compare(double cached, double streaming) {
  const bool dissents = usual_ == Store::kCached ? cached > kMuchSlower * streaming
                                                 : cached < kHardlySlower * streaming;
  dissents_ = dissents ? dissents_ + 1 : 0;
  if (dissents) until_timed_ = kFirst;  // once is by chance: ask again soon
  if (dissents_ < kWantedDissents) return;
  usual_ = other(usual_);
  dissents_ = 0;
}

}  // namespace fanin
