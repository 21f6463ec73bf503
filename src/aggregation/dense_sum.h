#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "fanin/add_n.h"
#include "fanin/context.h"
#include "fanin/shape.h"
#include "fanin/tensor.h"
#include "kernels/fold.h"

namespace fanin {

/// The sources of a sum. Up to 64 need no memory; for more it is the thread's own, which grows
/// once: a thread has one such list at a time.
class Operands {
 public:
  explicit Operands(std::size_t count);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  void set(std::size_t index, Operand operand) { std::construct_at(first_ + index, operand); }
  std::span<const Operand> span() const { return {first_, count_}; }

 private:
  static constexpr std::size_t kFew = 64;

  // Bytes, and not an array of operands: most of them would be made for nothing.
  alignas(Operand) std::byte few_[kFew * sizeof(Operand)];
  Operand* first_;
  std::size_t count_;
};

/// The context that the options name, or the process's.
inline Context& context_of(const SumOptions& options) {
  return options.context != nullptr ? *options.context : Context::process();
}

/// Checks the options, and says how `term_count` terms of this type are summed.
Arithmetic arithmetic_of(const SumOptions& options, DType dtype, std::size_t term_count);

/// Throws unless two terms, called by their positions in the caller's list, have one dtype, or one
/// shape.
void check_dtypes(std::size_t first_position, DType first, std::size_t position, DType other);
void check_shapes(std::size_t first_position, const Shape& first, std::size_t position,
                  const Shape& other);

/// `element_count` elements of the sources, summed into `target`, which overlaps none of them in
/// part: in ADD_N order, or exactly.
void sum_operands(Context& context, const Arithmetic& arithmetic, std::span<const Operand> sources,
                  std::size_t element_count, std::byte* target);

}  // namespace fanin
