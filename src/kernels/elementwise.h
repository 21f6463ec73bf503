#pragma once

#include <cstddef>
#include <cstdint>

#include "fanin/dtype.h"

namespace fanin {

// On this thread, any alignment. `to` may be `from` where the elements have the same size.

/// Converts elements. What does not fit is rounded once, to nearest, ties to even; floating-point
/// numbers become integers by cutting off the fraction, limited to the ends of the type, NaN is 0;
/// integers wrap.
void convert(DType from_dtype, const std::byte* from, DType to_dtype, std::byte* to,
             std::size_t count);

/// Multiplies floating-point elements by `factor`, which is first rounded to the partial type:
/// float32, or float64 for float64. Halves round once.
void scale(DType dtype, const std::byte* from, std::byte* to, double factor, std::size_t count);

/// Divides as MEAN does: exactly, then rounded once. Integers of 8 and 16 bits give float32, those
/// of 32 and 64 bits float64, so `to` holds elements of result_dtype(ReduceOp::kMean, dtype).
void divide(DType dtype, const std::byte* from, std::byte* to, std::int64_t divisor,
            std::size_t count);

}  // namespace fanin
