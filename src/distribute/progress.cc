#include "distribute/progress.h"

#include <algorithm>
#include <exception>

#include "distribute/handle_state.h"

namespace fanin {

Progress::~Progress() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

Handle Progress::submit(int lane, std::function<void()> work) {
  auto state = std::make_shared<Handle::State>();
  const std::lock_guard lock(mutex_);
  items_.push_back({lane, std::move(work), state});
  if (!thread_.joinable()) thread_ = std::jthread([this] { run(); });
  changed_.notify_all();
  return make_handle(std::move(state));
}

void Progress::wait_for_lane(int lane) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return std::ranges::find(items_, lane, &Item::lane) == items_.end(); });
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !items_.empty(); });
    if (items_.empty()) return;
    Item& item = items_.front();
    lock.unlock();
    std::exception_ptr error;
    try {
      item.work();
    } catch (...) {
      error = std::current_exception();
    }
    const std::shared_ptr<Handle::State> state = item.state;
    lock.lock();
    items_.pop_front();
    changed_.notify_all();
    state->finish(std::move(error));
  }
}

}  // namespace fanin
