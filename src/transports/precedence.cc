#include "transports/precedence.h"

namespace fanin {

Precedence::Holder::Holder(Precedence* precedence, int priority)
    : precedence_(priority == 0 ? nullptr : precedence), priority_(priority) {
  if (precedence_ == nullptr) return;
  const std::lock_guard lock(precedence_->mutex_);
  precedence_->under_way_.insert(priority_);
  precedence_->publish_highest();
}

Precedence::Holder::~Holder() {
  if (precedence_ == nullptr) return;
  const std::lock_guard lock(precedence_->mutex_);
  precedence_->under_way_.erase(precedence_->under_way_.find(priority_));
  precedence_->publish_highest();
}

void Precedence::publish_highest() {
  highest_.store(under_way_.empty() ? 0 : *under_way_.rbegin(), std::memory_order_relaxed);
  highest_.notify_all();
}

void Precedence::wait(int priority) const {
  for (int highest = highest_.load(std::memory_order_relaxed); highest > priority;
       highest = highest_.load(std::memory_order_relaxed))
    highest_.wait(highest, std::memory_order_relaxed);
}

}  // namespace fanin
