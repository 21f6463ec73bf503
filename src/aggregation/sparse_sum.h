#pragma once

#include <span>

#include "aggregation/term_check.h"
#include "fanin/context.h"
#include "kernels/arithmetic.h"

namespace fanin {

/// A sparse term as a dense one of partial cells: zeros, and each row of values added in order of
/// appearance. Throws kIndexOutOfRange.
Buffer make_dense(Context& context, const Arithmetic& arithmetic, const Term& term,
                  const Shape& shape);

/// Sparse terms that fit together, as one: values and indices one after the other. MEAN divides the
/// values. `dense_shape` may be unknown. Throws kIndexOutOfRange.
IndexedSlices join_slices(Context& context, const Arithmetic& arithmetic,
                          std::span<const Term> terms, const Shape* dense_shape);

/// Indices of type int32 or int64 as a tensor.
Tensor make_indices(Context& context, std::span<const std::int64_t> indices, DType dtype,
                    const Device& device);

}  // namespace fanin
