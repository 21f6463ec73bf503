#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace fanin {

/// A whole number of cache lines for every type.
inline constexpr std::size_t kLineElements = 64;

/// Where the chunks of a schedule lie in the data, which is a list of tensors read one after the
/// other, as one long row of elements. So a pack is a view of many tensors and nothing is copied
/// together. Every place has the same layout.
class Layout {
 public:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  /// A piece of one tensor.
  struct Segment {
    std::size_t tensor = 0;
    std::size_t offset = 0;  // elements from its start
    std::size_t count = 0;
  };

  /// Even chunks, with borders on 64 bytes of the input's type.
  Layout(std::vector<std::size_t> tensor_counts, int chunk_count, std::size_t element_bytes);

  /// One tensor that is made of parts (see part_count()), each cut into as many chunks, evenly as
  /// above: the borders between parts are where the parts say.
  static Layout of_parts(std::span<const std::size_t> part_counts, int chunks_per_part,
                         std::size_t element_bytes);

  std::size_t element_count() const { return starts_.back(); }
  std::size_t tensor_count() const { return starts_.size() - 1; }
  int chunk_count() const { return static_cast<int>(chunk_starts_.size()) - 1; }
  Range chunk(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return {chunk_starts_[at], chunk_starts_[at + 1]};
  }
  std::size_t longest_chunk() const;

  /// Calls visit(segment) for each piece of [begin, end), in order.
  template <typename Visit>
  void for_each_segment(Range range, Visit&& visit) const {
    if (range.begin >= range.end) return;
    auto start = std::upper_bound(starts_.begin(), starts_.end(), range.begin) - 1;
    for (; range.begin < range.end; ++start) {
      const std::size_t end = std::min(range.end, *(start + 1));
      if (end > range.begin)
        visit(Segment{static_cast<std::size_t>(start - starts_.begin()), range.begin - *start,
                      end - range.begin});
      range.begin = std::max(range.begin, end);
    }
  }

 private:
  Layout() = default;
  /// Cuts what follows the last chunk so far.
  void append_chunks(std::size_t element_count, int chunk_count, std::size_t element_bytes);

  std::vector<std::size_t> starts_;              // of each tensor in the row, and the end
  std::vector<std::size_t> chunk_starts_ = {0};  // likewise
};

}  // namespace fanin
