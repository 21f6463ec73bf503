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

}  // namespace

IndexedSlices coalesce(const IndexedSlices& slices, const SumOptions& options) {
  const Value value = slices;
  const Term term{&value, 0};
  TermCheck().accept(term);
  const auto indices = checked_indices(term, nullptr);
  const auto order = ascending(indices);
  std::vector<std::int64_t> kept;

  const DType dtype = slices.values.dtype();
  const Arithmetic arithmetic = make_arithmetic(ReduceOp::kSum, dtype, options.accumulation, 1);
  const std::size_t row_elements =
      indices.empty() ? 0 : slices.values.element_count() / indices.size();
  const std::size_t row_bytes = row_elements * size_of(dtype);

  // Rows of one index are neighbours in `order`: each run becomes one row.
  std::vector<std::size_t> run_begins;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && indices[order[i]] == indices[order[i - 1]]) continue;
    run_begins.push_back(i);
    kept.push_back(indices[order[i]]);
  }
  Context& context = context_of(options);
  Buffer values = context.buffers().allocate(kept.size() * row_bytes);
  for (std::size_t run = 0; run < run_begins.size() && row_elements > 0; ++run) {
    const std::size_t end = run + 1 < run_begins.size() ? run_begins[run + 1] : order.size();
    Operands rows(end - run_begins[run]);
    for (std::size_t i = run_begins[run]; i < end; ++i)
      rows.set(i - run_begins[run],
               {.data = slices.values.bytes().data() + order[i] * row_bytes, .cell = Cell::kInput});
    std::byte* const targets[] = {values.bytes().data() + run * row_bytes};
    if (arithmetic.is_exact)
      exact_sum(context, arithmetic, rows.span(), row_elements, targets[0]);
    else if (arithmetic.is_exact)
      exact_sum(context, arithmetic, rows.span(), row_elements, targets[0]);
    else
      fold(arithmetic, {.sources = rows.span(), .targets = targets, .count = row_elements});
  }
  std::vector<std::int64_t> dims(slices.values.shape().dims().begin(),
                                 slices.values.shape().dims().end());
  dims[0] = static_cast<std::int64_t>(kept.size());
  return {Tensor(std::move(values), dtype, Shape(std::move(dims)), slices.values.device()),
          make_indices(context, kept, slices.indices.dtype(), slices.indices.device()),
          slices.dense_shape};
}

}  // namespace fanin
