#pragma once

#include <memory>

namespace fanin {

/// An operation that goes on while the caller does something else. Its inputs must stay as they
/// are, and its outputs untouched, until wait() has returned. Letting go of the last copy waits as
/// well, and drops the error, which the group's next call gives again.
class Handle {
 public:
  class State;
  explicit Handle(std::shared_ptr<State> state);

  /// Whether wait() would return, or throw, at once.
  bool is_done() const;

  /// Returns when the operation is done; throws what it threw, each time. Any thread may wait.
  void wait() const;

 private:
  friend State& state_of(const Handle& handle);
  std::shared_ptr<State> state_;
};

}  // namespace fanin
