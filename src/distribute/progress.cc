#include "distribute/progress.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "distribute/handle_state.h"

namespace fanin {

Progress::~Progress() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

Handle Progress::submit(Place place, std::function<void()> work) {
  auto state = std::make_shared<Handle::State>();
  const std::lock_guard lock(mutex_);
  // One that overtakes needs a thread beside that of the one before it.
  const std::size_t needed = !items_.empty() && place.priority > 0 ? 2 : 1;
  items_.push_back({place, std::move(work), state});
  while (threads_.size() < needed) threads_.emplace_back([this] { run(); });
  changed_.notify_all();
  return make_handle(std::move(state));
}

void Progress::wait_for_lane(int lane) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::ranges::none_of(items_, [&](const Item& item) { return item.place.lane == lane; });
  });
}

std::list<Progress::Item>::iterator Progress::find_next() {
  const auto first = items_.begin();
  if (first == items_.end() || !first->is_under_way) return first;
  const auto second = std::next(first);
  if (second == items_.end() || second->is_under_way) return items_.end();
  const bool overtakes =
      second->place.lane != first->place.lane && second->place.priority > first->place.priority;
  return overtakes ? second : items_.end();
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto item = items_.end();
    changed_.wait(lock, [&] {
      item = find_next();
      return item != items_.end() || (ends_ && items_.empty());
    });
    if (item == items_.end()) return;
    item->is_under_way = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      item->work();
    } catch (...) {
      error = std::current_exception();
    }
    const std::shared_ptr<Handle::State> state = item->state;
    lock.lock();
    items_.erase(item);
    changed_.notify_all();
    state->finish(std::move(error));
  }
}

}  // namespace fanin
