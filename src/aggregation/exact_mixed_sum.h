#pragma once

#include <cstddef>
#include <span>

#include "aggregation/term_check.h"
#include "fanin/context.h"
#include "kernels/arithmetic.h"

namespace fanin {

/// The exact sum of dense and sparse terms of one dense shape, as exact_sum() gives it: a sparse
/// term is zeros, and each of its rows is one more term there. Throws kIndexOutOfRange, and has
/// written nothing then.
void exact_mixed_sum(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
                     const Shape& shape, std::byte* target);

}  // namespace fanin
