#pragma once

#include <cstddef>

#include "kernels/fold.h"

namespace fanin {

/// A run of sources of a Fold.
struct SourceRun {
  std::size_t begin = 0;
  std::size_t count = 0;
  bool is_chained = false;  // joins the value so far one by one, and not as a group
};

/// Cuts the sources into runs: the first group and groups of one are chained to their neighbours,
/// because folding them one after the other is the same.
class GroupWalk {
 public:
  explicit GroupWalk(const Fold& fold) : fold_(fold) {}

  bool at_end() const { return begin_ == fold_.sources.size(); }

  SourceRun next() {
    SourceRun run{.begin = begin_, .count = size_of_group(), .is_chained = begin_ == 0};
    run.is_chained |= run.count == 1;
    ++group_;
    while (run.is_chained && begin_ + run.count < fold_.sources.size() && size_of_group() == 1) {
      ++run.count;
      ++group_;
    }
    begin_ += run.count;
    return run;
  }

 private:
  std::size_t size_of_group() const {
    return fold_.group_sizes.empty() ? 1 : fold_.group_sizes[group_];
  }

  const Fold& fold_;
  std::size_t group_ = 0;
  std::size_t begin_ = 0;
};

}  // namespace fanin
