#pragma once

#include <cstddef>
#include <span>

#include "fanin/context.h"
#include "kernels/fold.h"

namespace fanin {

/// The exact sum of the sources, element by element, divided by the arithmetic's divisor and
/// rounded once, to nearest, ties to even. The order of the sources does not matter, nor does an
/// overflow on the way. The sources, at least one, are input cells of a floating-point type;
/// `target` overlaps none of them in part. Allocates nothing.
void exact_sum(Context& context, const Arithmetic& arithmetic, std::span<const Operand> sources,
               std::size_t element_count, std::byte* target);

}  // namespace fanin
