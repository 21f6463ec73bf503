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
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_done_ = true;
  }
  changed_.notify_all();
}

Handle make_handle(std::shared_ptr<Handle::State> state) {
  Handle::State* const raw = state.get();
  return Handle({raw, [state = std::move(state)](Handle::State*) {
                   try {
                     state->wait();
                   } catch (const std::exception&) {  // the next call gives it again
                   }
                 }});
}

Handle::Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
bool Handle::is_done() const { return state_->is_done(); }
void Handle::wait() const { state_->wait(); }

}  // namespace fanin
