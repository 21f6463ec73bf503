#include "aggregation/dense_sum.h"

#include <fmt/format.h>

#include <vector>

#include "aggregation/exact_sum.h"
#include "fanin/error.h"
#include "kernels/parallel_fold.h"

namespace fanin {

Operands::Operands(std::size_t count) : first_(reinterpret_cast<Operand*>(few_)), count_(count) {
  if (count <= kFew) return;
  thread_local std::vector<Operand> many;
  if (many.size() < count) many.resize(count);
  first_ = many.data();
}

Arithmetic arithmetic_of(const SumOptions& options, DType dtype, std::size_t term_count) {
  check(options.accumulation);
  const ReduceOp op = options.mean ? ReduceOp::kMean : ReduceOp::kSum;
  return make_arithmetic(op, dtype, options.accumulation, static_cast<std::int64_t>(term_count));
}

// Formatting stands behind the test: most calls only compare.

void check_dtypes(std::size_t first_position, DType first, std::size_t position, DType other) {
  if (first == other) [[likely]]
    return;
  if (position < first_position) return check_dtypes(position, other, first_position, first);
  throw InvalidArgument(
      ErrorKind::kDtypeMismatch,
      fmt::format("term {} is {} but term {} is {}; the terms of a sum have one dtype",
                  first_position, name(first), position, name(other)));
}

void check_shapes(std::size_t first_position, const Shape& first, std::size_t position,
                  const Shape& other) {
  if (first == other) [[likely]]
    return;
  if (position < first_position) return check_shapes(position, other, first_position, first);
  throw InvalidArgument(
      ErrorKind::kShapeMismatch,
      fmt::format(
          "term {} has shape {} but term {} has shape {}; the terms of a sum have one shape",
          first_position, to_string(first), position, to_string(other)));
}

void sum_operands(Context& context, const Arithmetic& arithmetic, std::span<const Operand> sources,
                  std::size_t element_count, std::byte* target) {
  if (element_count == 0) return;
  if (arithmetic.is_exact) return exact_sum(context, arithmetic, sources, element_count, target);
  std::byte* const targets[] = {target};
  parallel_fold(context, arithmetic,
                {.sources = sources,
                 .group_sizes = add_n_groups(sources.size()),
                 .targets = targets,
                 .target_cell = Cell::kResult,
                 .count = element_count});
}

}  // namespace fanin
