#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fanin/context.h"
#include "fanin/indexed_slices.h"

namespace fanin {

/// A sparse float32 gradient of which any range of the dense form can be had: zeros, to which rows
/// were added in order of appearance.
class SparseGradient {
 public:
  /// Throws InvalidArgument if the gradient does not fit to parameter `index`, of this shape:
  /// kDtypeMismatch, kShapeMismatch, kSparseMismatch, kIndexOutOfRange.
  SparseGradient(std::size_t index, const Shape& parameter, const IndexedSlices& slices,
                 Context& context);

  /// The elements from `begin` on.
  void write_dense(std::size_t begin, std::span<float> elements) const;

 private:
  std::size_t row_elements_ = 0;
  std::vector<std::int64_t> rows_;  // ascending, each once
  Tensor values_;                   // theirs
};

}  // namespace fanin
