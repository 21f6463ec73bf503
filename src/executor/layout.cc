#include "executor/layout.h"

#include <numeric>

namespace fanin {
namespace {

constexpr std::size_t kCacheLine = 64;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

Layout::Layout(std::vector<std::size_t> tensor_counts, int chunk_count, std::size_t element_bytes)
    : starts_(tensor_counts.size() + 1, 0), chunk_count_(chunk_count) {
  std::partial_sum(tensor_counts.begin(), tensor_counts.end(), starts_.begin() + 1);
  const std::size_t step = kCacheLine / element_bytes;
  const std::size_t even = divide_up(element_count(), static_cast<std::size_t>(chunk_count));
  chunk_elements_ = divide_up(even, step) * step;
}

Layout::Range Layout::chunk(int index) const {
  const std::size_t begin = chunk_elements_ * static_cast<std::size_t>(index);
  return {std::min(begin, element_count()), std::min(begin + chunk_elements_, element_count())};
}

}  // namespace fanin
