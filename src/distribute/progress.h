#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fanin/handle.h"

namespace fanin {

/// The threads of a group on which operations go on while callers do something else: one after the
/// other, in the order in which they came; but one that matters more than the one before it, which
/// is under way, does not wait for it. Threads are started when they are first needed, and sleep
/// while there is nothing to do.
class Progress {
 public:
  Progress() = default;
  /// Returns when all are done.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  struct Place {
    int lane = 0;
    int priority = 0;
  };
  Handle submit(Place place, std::function<void()> work);

  /// Returns when nothing is under way on the lane.
  void wait_for_lane(int lane);

 private:
  struct Item {
    Place place;
    std::function<void()> work;
    std::shared_ptr<Handle::State> state;
    bool is_under_way = false;
  };
  void run();
  /// What may begin now, or the end.
  std::list<Item>::iterator find_next();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Item> items_;  // in the order in which they came
  bool ends_ = false;
  std::vector<std::jthread> threads_;  // after all that they use
};

}  // namespace fanin
