#include "transports/precedence.h"

#include <algorithm>
#include <thread>

namespace fanin {
namespace {

int highest_of(const std::multiset<int>& priorities) {
  return priorities.empty() ? 0 : *priorities.rbegin();
}

}  // namespace

void Precedence::Place::come() {
  const std::lock_guard lock(precedence_.mutex_);
  precedence_.coming_.insert(priority_);
  precedence_.publish_highest();
}

void Precedence::Place::go_in() {
  const std::lock_guard lock(precedence_.mutex_);
  precedence_.entered_.insert(precedence_.coming_.extract(priority_));
  has_entered_ = true;
  precedence_.publish_highest();
}

void Precedence::Place::leave() {
  const std::lock_guard lock(precedence_.mutex_);
  std::multiset<int>& mine = has_entered_ ? precedence_.entered_ : precedence_.coming_;
  mine.extract(priority_);
  precedence_.publish_highest();
}

void Precedence::Place::let_go_first() const {
  const std::atomic<int>& entered = precedence_.highest_entered_;
  int highest = entered.load(std::memory_order_relaxed);
  if (highest <= priority_) std::this_thread::yield();
  for (; highest > priority_; highest = entered.load(std::memory_order_relaxed))
    entered.wait(highest, std::memory_order_relaxed);
}

void Precedence::publish_highest() {
  const int entered = highest_of(entered_);
  highest_.store(std::max(entered, highest_of(coming_)), std::memory_order_relaxed);
  highest_entered_.store(entered, std::memory_order_relaxed);
  highest_entered_.notify_all();
}

}  // namespace fanin
