#pragma once

#include <cstddef>
#include <span>

#include "fanin/context.h"
#include "kernels/fold.h"

namespace fanin {

/// The sum of whole dense terms by a balanced tree over adjacent pairs, into `target`, which
/// overlaps none of them. Goes through the elements once: partial sums are blocks that stay in
/// cache. The bits are those of a TreeSum to which the terms were pushed in order.
void tree_fold(Context& context, const Arithmetic& arithmetic, std::span<const Operand> terms,
               std::size_t element_count, std::byte* target);

}  // namespace fanin
