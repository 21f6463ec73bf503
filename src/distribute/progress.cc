#include "distribute/progress.h"

#include <algorithm>
#include <exception>

namespace fanin {

class Handle::State {
 public:
  bool is_done() {
    const std::lock_guard lock(mutex_);
    return is_done_;
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done_; });
    if (error_) std::rethrow_exception(error_);
  }

  void finish(std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
      is_done_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::exception_ptr error_;
};

namespace {

/// Waits when the last copy of a handle goes.
std::shared_ptr<Handle::State> waiting(std::shared_ptr<Handle::State> state) {
  Handle::State* const raw = state.get();
  return {raw, [state = std::move(state)](Handle::State*) {
            try {
              state->wait();
            } catch (const std::exception&) {  // the next call gives it again
            }
          }};
}

}  // namespace

Handle::Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
bool Handle::is_done() const { return state_->is_done(); }
void Handle::wait() const { state_->wait(); }

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
  return Handle(waiting(std::move(state)));
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
