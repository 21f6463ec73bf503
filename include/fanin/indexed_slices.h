#pragma once

#include <optional>
#include <variant>

#include "fanin/tensor.h"

namespace fanin {

/// A sparse gradient: row indices[i] of a larger tensor has values[i]; an index that stands several
/// times means the sum.
struct IndexedSlices {
  Tensor values;                     ///< [k, row...]
  Tensor indices;                    ///< [k], int32 or int64
  std::optional<Shape> dense_shape;  ///< [rows, row...], or unknown
};

/// What a gradient is. `std::optional<Value>` where a term may be missing.
using Value = std::variant<Tensor, IndexedSlices>;

}  // namespace fanin
