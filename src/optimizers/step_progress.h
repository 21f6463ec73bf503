#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fanin {

/// Which elements of a parameter have had their update of the present step. Any thread may call.
class StepProgress {
 public:
  explicit StepProgress(std::size_t element_count) : element_count_(element_count) {}

  /// Takes elements for the caller to update, and tells the step, counted from 1. Throws
  /// InvalidArgument (kBadOption), which names parameter `index`, if one of them has been taken.
  std::int64_t take(std::size_t index, std::size_t begin, std::size_t count);

  /// Elements that were taken have been updated; with the last of them the step ends.
  void finish(std::size_t count);

  /// Steps that have ended.
  std::int64_t step_count() const;

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  const std::size_t element_count_;
  mutable std::mutex mutex_;
  std::vector<Range> taken_;  // by this step, ascending
  std::size_t finished_count_ = 0;
  std::int64_t step_count_ = 0;
};

}  // namespace fanin
