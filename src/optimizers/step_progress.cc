#include "optimizers/step_progress.h"

#include <algorithm>
#include <iterator>

#include "core/require.h"

namespace fanin {

std::int64_t StepProgress::take(std::size_t index, std::size_t begin, std::size_t count) {
  const std::lock_guard lock(mutex_);
  if (count == 0) return step_count_ + 1;
  const std::size_t end = begin + count;
  const auto next = std::ranges::lower_bound(taken_, begin, {}, &Range::begin);
  const auto refuse = [&](const Range& range) {
    throw InvalidArgument(
        ErrorKind::kBadOption,
        fmt::format("elements {} to {} of parameter {} are to be updated, but step {} already has "
                    "{} to {}; it ends when all {} have been updated once",
                    begin, end - 1, index, step_count_ + 1, range.begin, range.end - 1,
                    element_count_));
  };
  if (next != taken_.end() && next->begin < end) refuse(*next);
  if (next != taken_.begin() && std::prev(next)->end > begin) refuse(*std::prev(next));
  taken_.insert(next, {begin, end});
  return step_count_ + 1;
}

void StepProgress::finish(std::size_t count) {
  const std::lock_guard lock(mutex_);
  finished_count_ += count;
  if (finished_count_ < element_count_) return;
  finished_count_ = 0;
  taken_.clear();
  ++step_count_;
}

std::int64_t StepProgress::step_count() const {
  const std::lock_guard lock(mutex_);
  return step_count_;
}

}  // namespace fanin
