#pragma once

#include <cstddef>

#include "fanin/context.h"
#include "fanin/tensor.h"
#include "kernels/fold.h"

namespace fanin {

/// Divides by a number of terms, as MEAN does.
inline Tensor divided(const Tensor& sum, std::size_t term_count) {
  const Arithmetic arithmetic = make_arithmetic(ReduceOp::kMean, sum.dtype(), Accumulation::kWide,
                                                static_cast<std::int64_t>(term_count));
  Buffer buffer = Context::process().buffers().allocate(sum.element_count() *
                                                        arithmetic.size_of(Cell::kResult));
  const Operand source{sum.bytes().data(), Cell::kInput};
  std::byte* const target = buffer.bytes().data();
  fold(arithmetic,
       {.sources = {&source, 1}, .targets = {&target, 1}, .count = sum.element_count()});
  return {std::move(buffer), arithmetic.result, sum.shape(), sum.device()};
}

}  // namespace fanin
