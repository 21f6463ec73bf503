// Sums with sparse terms: one after the other if all are sparse, dense if one is dense.

#include "aggregation/sparse_sum.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "aggregation/dense_sum.h"
#include "aggregation/exact_mixed_sum.h"
#include "core/require.h"
#include "fanin/add_n.h"

namespace fanin {
Buffer make_dense(Context& context, const Arithmetic& arithmetic, const Term& term,
                  const Shape& shape) {
  const auto indices = checked_indices(term, &shape);
  const std::size_t input_size = arithmetic.size_of(Cell::kInput);
  const std::size_t partial_size = arithmetic.size_of(Cell::kPartial);
  Buffer buffer = context.buffers().allocate(shape.element_count() * partial_size);
  if (buffer.size() == 0) return buffer;
  std::memset(buffer.bytes().data(), 0, buffer.size());

  const std::size_t row_elements = shape.element_count() / static_cast<std::size_t>(shape[0]);
  const std::byte* values = term.sparse()->values.bytes().data();
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t rows = 1;  // neighbours in both are added at once
    while (i + rows < indices.size() && indices[i + rows] == indices[i + rows - 1] + 1) ++rows;
    std::byte* const target =
        buffer.bytes().data() + static_cast<std::size_t>(indices[i]) * row_elements * partial_size;
    const Operand sources[] = {{.data = target, .cell = Cell::kPartial},
                               {.data = values + i * row_elements * input_size}};
    std::byte* const targets[] = {target};
    fold(arithmetic, {.sources = sources,
                      .targets = targets,
                      .target_cell = Cell::kPartial,
                      .count = rows * row_elements});
    i += rows;
  }
  return buffer;
}

namespace {

void sum_into(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
              const Shape& shape, std::byte* target) {
  const bool has_sparse =
      std::ranges::any_of(terms, [](const Term& term) { return term.sparse() != nullptr; });
  if (arithmetic.is_exact && has_sparse)
    return exact_mixed_sum(context, arithmetic, terms, shape, target);
  std::vector<Buffer> made_dense;
  Operands operands(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (const Tensor* dense = terms[i].dense()) {
      operands.set(i, {.data = dense->bytes().data(), .cell = Cell::kInput});
    } else {
      made_dense.push_back(make_dense(context, arithmetic, terms[i], shape));
      operands.set(i, {.data = made_dense.back().bytes().data(), .cell = Cell::kPartial});
    }
  }
  sum_operands(context, arithmetic, operands.span(), shape.element_count(), target);
}

Tensor sum_to_dense(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
                    const Shape& shape) {
  const auto first = std::ranges::find_if(terms, [](const Term& t) { return t.dense(); });
  Buffer sum =
      context.buffers().allocate(shape.element_count() * arithmetic.size_of(Cell::kResult));
  sum_into(context, arithmetic, terms, shape, sum.bytes().data());
  return {std::move(sum), arithmetic.result, shape, first->dense()->device()};
}

/// The values of all terms, one after the other; MEAN divides them.
Tensor join_values(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
                   std::int64_t row_count) {
  const Tensor& first = terms.front().sparse()->values;
  std::vector<std::int64_t> dims(first.shape().dims().begin(), first.shape().dims().end());
  dims[0] = row_count;
  Shape shape(std::move(dims));
  const std::size_t size = arithmetic.size_of(Cell::kResult);
  Buffer buffer = context.buffers().allocate(shape.element_count() * size);
  std::byte* target = buffer.bytes().data();
  for (const Term& term : terms) {
    const Tensor& values = term.sparse()->values;
    if (values.element_count() == 0) continue;
    if (arithmetic.op == ReduceOp::kMean) {
      const Operand source{.data = values.bytes().data()};
      sum_operands(context, arithmetic, {&source, 1}, values.element_count(), target);
    } else {
      std::memcpy(target, values.bytes().data(), values.bytes().size());
    }
    target += values.element_count() * size;
  }
  return {std::move(buffer), arithmetic.result, std::move(shape), first.device()};
}

}  // namespace

Tensor make_indices(Context& context, std::span<const std::int64_t> indices, DType dtype,
                    const Device& device) {
  Buffer buffer = context.buffers().allocate(indices.size() * size_of(dtype));
  if (dtype == DType::kInt64 && !indices.empty())
    std::memcpy(buffer.bytes().data(), indices.data(), buffer.size());
  else
    std::ranges::transform(indices, reinterpret_cast<std::int32_t*>(buffer.bytes().data()),
                           [](std::int64_t index) { return static_cast<std::int32_t>(index); });
  return {std::move(buffer), dtype, {static_cast<std::int64_t>(indices.size())}, device};
}

IndexedSlices join_slices(Context& context, const Arithmetic& arithmetic,
                          std::span<const Term> terms, const Shape* dense_shape) {
  std::vector<std::int64_t> indices;
  DType index_type = DType::kInt32;
  for (const Term& term : terms) {
    const auto more = checked_indices(term, dense_shape);
    indices.insert(indices.end(), more.begin(), more.end());
    if (term.sparse()->indices.dtype() == DType::kInt64) index_type = DType::kInt64;
  }
  const auto row_count = static_cast<std::int64_t>(indices.size());
  return {join_values(context, arithmetic, terms, row_count),
          make_indices(context, indices, index_type, terms.front().sparse()->indices.device()),
          dense_shape != nullptr ? std::optional(*dense_shape) : std::nullopt};
}

std::optional<Value> add_n(std::span<const std::optional<Value>> terms, const SumOptions& options) {
  require(!terms.empty(), ErrorKind::kEmpty, "add_n needs at least one term, got none");
  check(options.accumulation);
  std::vector<Term> present;
  present.reserve(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (terms[i]) present.push_back({&*terms[i], i});
  if (present.empty()) return std::nullopt;

  const TermCheck fit = check_terms(present);
  const Arithmetic arithmetic = arithmetic_of(options, fit.dtype(), present.size());
  if (fit.dense_shape() != nullptr)
    return sum_to_dense(context_of(options), arithmetic, present, *fit.dense_shape());
  return join_slices(context_of(options), arithmetic, present, fit.sparse_shape());
}

}  // namespace fanin
