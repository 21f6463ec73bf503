#pragma once

#include <atomic>
#include <mutex>
#include <set>

namespace fanin {

/// Which operations of a group are under way that matter more than others: those others wait
/// between two blocks until they are done. Operations of priority 0 matter to nobody and need not
/// say that they are there.
///
/// An operation that others let go first must be one that all ranks have entered: then a thread of
/// each rank is in it, and it ends, however long others wait for it.
class Precedence {
 public:
  /// One operation is under way as long as it lives; nothing without a precedence.
  class Holder {
   public:
    Holder(Precedence* precedence, int priority);
    ~Holder();
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    Precedence* const precedence_;
    const int priority_;
  };

  /// Returns when nothing of a larger priority is under way.
  void give_way(int priority) const {
    if (highest_.load(std::memory_order_relaxed) > priority) wait(priority);
  }

 private:
  void wait(int priority) const;
  void publish_highest();

  std::mutex mutex_;
  std::multiset<int> under_way_;  // the priorities of operations, but for 0
  std::atomic<int> highest_ = 0;
};

}  // namespace fanin
