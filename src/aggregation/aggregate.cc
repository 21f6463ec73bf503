#include "fanin/aggregate.h"

#include <algorithm>

#include "aggregation/dense_sum.h"
#include "aggregation/sparse_sum.h"
#include "aggregation/tree_fold.h"
#include "aggregation/tree_sum.h"
#include "core/require.h"
#include "kernels/parallel_fold.h"

namespace fanin {
namespace {

Tensor tree_of_dense(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
                     const Shape& shape) {
  Operands operands(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    operands.set(i, {.data = terms[i].dense()->bytes().data(), .cell = Cell::kInput});
  Buffer sum =
      context.buffers().allocate(shape.element_count() * arithmetic.size_of(Cell::kResult));
  tree_fold(context, arithmetic, operands.span(), shape.element_count(), sum.bytes().data());
  return {std::move(sum), arithmetic.result, shape, terms.front().dense()->device()};
}

Value tree_of_values(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
                     const TermCheck& fit) {
  HeldMemory uncounted;
  const SumSetting setting{context, arithmetic, uncounted};
  TreeSum tree(setting);
  for (const Term& term : terms) tree.push(to_partial_sum(*term.value), fit.dense_shape());
  const auto dense = std::ranges::find_if(terms, [](const Term& t) { return t.dense(); });
  return finished_chain(setting, tree.take_rest(), fit.dense_shape(), fit.sparse_shape(),
                        dense != terms.end() ? dense->dense()->device() : Device());
}

Value tree(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
           const TermCheck& fit) {
  if (std::ranges::all_of(terms, [](const Term& term) { return term.dense() != nullptr; }))
    return tree_of_dense(context, arithmetic, terms, *fit.dense_shape());
  return tree_of_values(context, arithmetic, terms, fit);
}

Tensor accumulate(Context& context, const Arithmetic& arithmetic, std::span<const Operand> terms,
                  const Tensor& like) {
  Buffer sum = context.buffers().allocate(like.element_count() * arithmetic.size_of(Cell::kResult));
  std::byte* const targets[] = {sum.bytes().data()};
  if (like.element_count() > 0)
    parallel_fold(context, arithmetic,
                  {.sources = terms, .targets = targets, .count = like.element_count()});
  return {std::move(sum), arithmetic.result, like.shape(), like.device()};
}

}  // namespace

Tensor accumulate_n(std::span<const Tensor> terms, const SumOptions& options) {
  require(!terms.empty(), ErrorKind::kEmpty, "accumulate_n needs at least one term, got none");
  if (options.accumulation == Accumulation::kExact) return add_n(terms, options);
  const Tensor& first = terms.front();
  Operands operands(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    check_dtypes(0, first.dtype(), i, terms[i].dtype());
    check_shapes(0, first.shape(), i, terms[i].shape());
    operands.set(i, {.data = terms[i].bytes().data(), .cell = Cell::kInput});
  }
  return accumulate(context_of(options), arithmetic_of(options, first.dtype(), terms.size()),
                    operands.span(), first);
}

std::optional<Value> aggregate(std::span<const std::optional<Value>> terms,
                               AggregationMethod method, const SumOptions& options) {
  check(method);
  check(options.accumulation);
  if (terms.empty()) return std::nullopt;
  const bool has_order = options.accumulation != Accumulation::kExact;
  if (method == AggregationMethod::kAddN || method == AggregationMethod::kAuto || !has_order)
    return add_n(terms, options);

  std::vector<Term> present;
  std::vector<Tensor> dense;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!terms[i]) continue;
    present.push_back({&*terms[i], i});
    if (const auto* tensor = std::get_if<Tensor>(&*terms[i])) dense.push_back(*tensor);
  }
  if (present.empty()) return std::nullopt;
  const TermCheck fit = check_terms(present);
  if (method == AggregationMethod::kExperimentalAccumulateN && dense.size() == present.size())
    return accumulate_n(dense, options);
  const Arithmetic arithmetic = arithmetic_of(options, fit.dtype(), present.size());
  return tree(context_of(options), arithmetic, present, fit);
}

}  // namespace fanin
