#include <algorithm>
#include <cstring>
#include <numeric>

#include "aggregation/dense_sum.h"
#include "aggregation/exact_sum.h"
#include "aggregation/sparse_sum.h"
#include "fanin/aggregate.h"

namespace fanin {
namespace {

/// Positions of the indices in ascending order; equal ones in order of appearance.
std::vector<std::size_t> ascending(const std::vector<std::int64_t>& indices) {
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return indices[at]; });
  return order;
}

/// Where in `order` each run of equal indices begins, and the end.
std::vector<std::size_t> run_borders(const std::vector<std::int64_t>& indices,
                                     const std::vector<std::size_t>& order) {
  std::vector<std::size_t> borders;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i == 0 || indices[order[i]] != indices[order[i - 1]]) borders.push_back(i);
  borders.push_back(order.size());
  return borders;
}

void add_rows(Context& context, const Arithmetic& arithmetic, std::span<const Operand> rows,
              std::size_t row_elements, std::byte* target) {
  if (arithmetic.is_exact) return exact_sum(context, arithmetic, rows, row_elements, target);
  std::byte* const targets[] = {target};
  fold(arithmetic, {.sources = rows, .targets = targets, .count = row_elements});
}

}  // namespace

IndexedSlices coalesce(const IndexedSlices& slices, const SumOptions& options) {
  const Value value = slices;
  const Term term{&value, 0};
  TermCheck().accept(term);
  const auto indices = checked_indices(term, nullptr);
  const auto order = ascending(indices);
  const auto borders = run_borders(indices, order);
  const std::size_t run_count = borders.size() - 1;

  Context& context = context_of(options);
  const DType dtype = slices.values.dtype();
  const Arithmetic arithmetic = make_arithmetic(ReduceOp::kSum, dtype, options.accumulation, 1);
  const std::size_t row_elements =
      indices.empty() ? 0 : slices.values.element_count() / indices.size();
  const std::size_t row_bytes = row_elements * size_of(dtype);
  Buffer values = context.buffers().allocate(run_count * row_bytes);
  std::vector<std::int64_t> kept(run_count);
  for (std::size_t run = 0; run < run_count; ++run) {
    kept[run] = indices[order[borders[run]]];
    if (row_elements == 0) continue;
    Operands rows(borders[run + 1] - borders[run]);
    for (std::size_t i = borders[run]; i < borders[run + 1]; ++i)
      rows.set(i - borders[run],
               {.data = slices.values.bytes().data() + order[i] * row_bytes, .cell = Cell::kInput});
    add_rows(context, arithmetic, rows.span(), row_elements,
             values.bytes().data() + run * row_bytes);
  }
  std::vector<std::int64_t> dims(slices.values.shape().dims().begin(),
                                 slices.values.shape().dims().end());
  dims[0] = static_cast<std::int64_t>(run_count);
  return {Tensor(std::move(values), dtype, Shape(std::move(dims)), slices.values.device()),
          make_indices(context, kept, slices.indices.dtype(), slices.indices.device()),
          slices.dense_shape};
}

}  // namespace fanin
