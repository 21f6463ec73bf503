#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "fanin/handle.h"

namespace fanin {

/// How an operation that goes on elsewhere tells that it is done.
class Handle::State {
 public:
  bool is_done();

  /// Throws what the operation threw.
  void wait();

  void finish(std::exception_ptr error);

  /// For the last who could ask: so that the error goes there, and not with the thread that threw.
  void forget_error();

  /// Calls this once it is done, on the thread that finishes it, or at once.
  void call_when_done(std::function<void()> callback);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::exception_ptr error_;
  std::function<void()> callback_;
};

/// A handle whose last copy waits when it goes.
Handle make_handle(std::shared_ptr<Handle::State> state);

Handle::State& state_of(const Handle& handle);

}  // namespace fanin
