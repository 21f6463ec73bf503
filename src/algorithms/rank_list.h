#pragma once

#include <numeric>
#include <vector>

namespace fanin {

/// The ranks [begin, end), in order: sources of a step that reads them all.
inline std::vector<int> rank_list(int begin, int end) {
  std::vector<int> ranks(static_cast<std::size_t>(end - begin));
  std::iota(ranks.begin(), ranks.end(), begin);
  return ranks;
}

}  // namespace fanin
