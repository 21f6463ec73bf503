#pragma once

#include <cstdint>
#include <span>

#include "fanin/dtype.h"

namespace fanin {

/// For tests: the sum of the terms divided by `divisor`, rounded once to a floating-point type, to
/// nearest, ties to even. By MPFR, which shares nothing with the library.
double mpfr_sum(DType dtype, std::span<const double> terms, std::int64_t divisor = 1);

}  // namespace fanin
