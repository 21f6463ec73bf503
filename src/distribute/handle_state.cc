#include "distribute/handle_state.h"

#include <utility>

namespace fanin {

bool Handle::State::is_done() {
  const std::lock_guard lock(mutex_);
  return is_done_;
}

void Handle::State::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_done_; });
  if (error_) std::rethrow_exception(error_);
}

void Handle::State::finish(std::exception_ptr error) {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_done_ = true;
    callback = std::move(callback_);
  }
  changed_.notify_all();
  if (callback) callback();
}

void Handle::State::forget_error() {
  const std::lock_guard lock(mutex_);
  error_ = nullptr;
}

void Handle::State::call_when_done(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_done_) {
      callback_ = std::move(callback);
      return;
    }
  }
  callback();
}

Handle make_handle(std::shared_ptr<Handle::State> state) {
  Handle::State* const raw = state.get();
  return Handle({raw, [state = std::move(state)](Handle::State*) {
                   try {
                     state->wait();
                   } catch (const std::exception&) {  // the next call gives it again
                   }
                   state->forget_error();
                 }});
}

Handle::State& state_of(const Handle& handle) { return *handle.state_; }

Handle::Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
bool Handle::is_done() const { return state_->is_done(); }
void Handle::wait() const { state_->wait(); }

}  // namespace fanin
