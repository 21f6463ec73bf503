#include "executor/layout.h"

#include <numeric>

namespace fanin {
namespace {

constexpr std::size_t kCacheLine = 64;

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

Layout::Layout(std::vector<std::size_t> tensor_counts, int chunk_count, std::size_t element_bytes)
    : starts_(tensor_counts.size() + 1, 0) {
  std::partial_sum(tensor_counts.begin(), tensor_counts.end(), starts_.begin() + 1);
  append_chunks(element_count(), chunk_count, element_bytes);
}

Layout Layout::of_parts(std::span<const std::size_t> part_counts, int chunks_per_part,
                        std::size_t element_bytes) {
  Layout layout;
  for (const std::size_t count : part_counts)
    layout.append_chunks(count, chunks_per_part, element_bytes);
  layout.starts_ = {0, layout.chunk_starts_.back()};
  return layout;
}

void Layout::append_chunks(std::size_t element_count, int chunk_count, std::size_t element_bytes) {
  const std::size_t step = kCacheLine / element_bytes;
  const std::size_t even = divide_up(element_count, static_cast<std::size_t>(chunk_count));
  const std::size_t chunk_elements = divide_up(even, step) * step;
  const std::size_t begin = chunk_starts_.back();
  for (int chunk = 1; chunk <= chunk_count; ++chunk)
    chunk_starts_.push_back(
        begin + std::min(chunk_elements * static_cast<std::size_t>(chunk), element_count));
}

std::size_t Layout::longest_chunk() const {
  std::size_t longest = 0;
  for (int chunk = 0; chunk < chunk_count(); ++chunk)
    longest = std::max(longest, this->chunk(chunk).end - this->chunk(chunk).begin);
  return longest;
}

}  // namespace fanin
