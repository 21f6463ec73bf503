#pragma once

#include <vector>

#include "aggregation/slow_sum.h"

namespace fanin {

// Sums by their definitions, for tests: one element at a time.

/// Adjacent pairs, level by level, an odd one out carried up.
template <typename T>
std::vector<T> slow_tree(const std::vector<std::vector<T>>& terms, bool rounds_each_step = false) {
  std::vector<T> sums;
  std::vector<Wide<T>> level;
  for (std::size_t at = 0; at < terms.front().size(); ++at) {
    level.clear();
    for (const auto& term : terms) level.push_back(widen(term[at]));
    while (level.size() > 1) {
      for (std::size_t i = 0; i < level.size(); i += 2)
        level[i / 2] =
            i + 1 < level.size() ? add<T>(level[i], level[i + 1], rounds_each_step) : level[i];
      level.resize((level.size() + 1) / 2);
    }
    sums.push_back(static_cast<T>(level.front()));
  }
  return sums;
}

/// From left to right.
template <typename T>
std::vector<T> slow_accumulate(const std::vector<std::vector<T>>& terms,
                               bool rounds_each_step = false) {
  std::vector<T> sums;
  for (std::size_t at = 0; at < terms.front().size(); ++at) {
    Wide<T> sum = widen(terms.front()[at]);
    for (std::size_t i = 1; i < terms.size(); ++i)
      sum = add<T>(sum, widen(terms[i][at]), rounds_each_step);
    sums.push_back(static_cast<T>(sum));
  }
  return sums;
}

}  // namespace fanin
