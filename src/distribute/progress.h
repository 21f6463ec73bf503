#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "fanin/handle.h"

namespace fanin {

/// The thread of a group on which operations go on while callers do something else: one after the
/// other, in the order in which they came. It is started by the first, and sleeps while there is
/// none.
class Progress {
 public:
  Progress() = default;
  /// Returns when all are done.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  Handle submit(int lane, std::function<void()> work);

  /// Returns when nothing is under way on the lane.
  void wait_for_lane(int lane);

 private:
  struct Item {
    int lane;
    std::function<void()> work;
    std::shared_ptr<Handle::State> state;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;  // the first is under way
  bool ends_ = false;
  std::jthread thread_;  // after all that it uses
};

}  // namespace fanin
