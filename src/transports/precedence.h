#pragma once

#include <atomic>
#include <mutex>
#include <set>

namespace fanin {

/// Which operations of a group matter more than others: those others wait between two blocks until
/// they are done. Operations of priority 0 matter to nobody and need not say that they are there.
///
/// An operation that others wait for must be one that all ranks have entered: then a thread of each
/// rank is in it, and it ends, however long others wait for it. Before that they only let its
/// thread run.
class Precedence {
 public:
  /// The place of one operation among the others, as long as it lives.
  class Place {
   public:
    Place(Precedence& precedence, int priority) : precedence_(precedence), priority_(priority) {
      if (priority_ != 0) come();
    }
    ~Place() {
      if (priority_ != 0) leave();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// All ranks have entered it.
    void enter() {
      if (priority_ != 0 && !has_entered_) go_in();
    }

    /// Returns when nothing of a larger priority is under way.
    void give_way() const {
      if (precedence_.highest_.load(std::memory_order_relaxed) > priority_) let_go_first();
    }

   private:
    void come();
    void go_in();
    void leave();
    void let_go_first() const;

    Precedence& precedence_;
    const int priority_;
    bool has_entered_ = false;
  };

 private:
  void publish_highest();

  std::mutex mutex_;
  std::multiset<int> coming_;  // the priorities of operations, but for 0
  std::multiset<int> entered_;
  std::atomic<int> highest_ = 0;  // of both
  std::atomic<int> highest_entered_ = 0;
};

}  // namespace fanin
