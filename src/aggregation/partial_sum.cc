#include "aggregation/partial_sum.h"

#include <cassert>
#include <utility>

#include "aggregation/dense_sum.h"
#include "aggregation/sparse_sum.h"
#include "kernels/parallel_fold.h"

namespace fanin {
namespace {

Arithmetic undivided(Arithmetic arithmetic) {
  arithmetic.op = ReduceOp::kSum;
  arithmetic.result = arithmetic.input;
  arithmetic.divisor = 1;
  return arithmetic;
}

/// Replaces the sparse links at the beginning by one.
void join_sparse_links(const SumSetting& setting, std::vector<ChainLink>& chain,
                       const Shape* sparse_shape) {
  while (chain.size() > 1 && std::holds_alternative<IndexedSlices>(chain[0].sum) &&
         std::holds_alternative<IndexedSlices>(chain[1].sum)) {
    const std::size_t before = bytes_of(chain[0].sum) + bytes_of(chain[1].sum);
    const Value first = std::get<IndexedSlices>(std::move(chain[0].sum));
    const Value second = std::get<IndexedSlices>(std::move(chain[1].sum));
    const Term in_order[] = {{chain[1].is_earlier ? &second : &first, 0},
                             {chain[1].is_earlier ? &first : &second, 1}};
    IndexedSlices joined =
        join_slices(setting.context, undivided(setting.arithmetic), in_order, sparse_shape);
    chain.erase(chain.begin());
    chain[0].sum = std::move(joined);
    setting.memory.add(bytes_of(chain[0].sum));
    setting.memory.count_moved(before + bytes_of(chain[0].sum));
    setting.memory.remove(before);
  }
}

void make_links_dense(const SumSetting& setting, std::vector<ChainLink>& chain,
                      const Shape& shape) {
  for (ChainLink& link : chain) {
    const auto* const sparse = std::get_if<IndexedSlices>(&link.sum);
    if (sparse == nullptr) continue;
    const std::size_t before = bytes_of(link.sum);
    const Value value = *sparse;
    link.sum = make_dense(setting.context, setting.arithmetic, {&value, 0}, shape);
    setting.memory.add(bytes_of(link.sum));
    setting.memory.count_moved(before + bytes_of(link.sum));
    setting.memory.remove(before);
  }
}

/// Folds dense links into a buffer of `cell`s: that of a link if it is as large, or a new one.
Buffer fold_links(const SumSetting& setting, std::vector<ChainLink>& chain,
                  std::size_t element_count, Cell cell) {
  const std::size_t bytes = element_count * setting.arithmetic.size_of(cell);
  Operands operands(chain.size());
  Buffer target;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (const auto* const buffer = std::get_if<Buffer>(&chain[i].sum)) {
      operands.set(i, {.data = buffer->bytes().data(), .cell = Cell::kPartial});
      if (buffer->size() == bytes) target = *buffer;
    } else {
      operands.set(i, {.data = std::get<Tensor>(chain[i].sum).bytes().data()});
    }
  }
  const bool is_new = target.handle() == nullptr;
  if (is_new) {
    target = setting.context.buffers().allocate(bytes);
    setting.memory.add(bytes);
  }
  if (element_count > 0) {
    std::byte* const targets[] = {target.bytes().data()};
    const Fold fold{.sources = operands.span(),
                    .targets = targets,
                    .target_cell = cell,
                    .count = element_count};
    parallel_fold(setting.context, setting.arithmetic, fold);
    setting.memory.count_moved(bytes_moved(setting.arithmetic, fold));
  }
  std::size_t link_bytes = 0;
  for (const ChainLink& link : chain) link_bytes += bytes_of(link.sum);
  setting.memory.remove(is_new ? link_bytes : link_bytes - bytes);
  return target;
}

bool is_sparse(const std::vector<ChainLink>& chain) {
  return chain.size() == 1 && std::holds_alternative<IndexedSlices>(chain[0].sum);
}

}  // namespace

PartialSum to_partial_sum(Value term) {
  return std::visit([](auto&& value) -> PartialSum { return std::forward<decltype(value)>(value); },
                    std::move(term));
}

std::size_t bytes_of(const PartialSum& sum) {
  if (const auto* const buffer = std::get_if<Buffer>(&sum)) return buffer->size();
  if (const auto* const dense = std::get_if<Tensor>(&sum)) return dense->bytes().size();
  const auto& sparse = std::get<IndexedSlices>(sum);
  return sparse.values.bytes().size() + sparse.indices.bytes().size();
}

PartialSum sum_chain(const SumSetting& setting, std::vector<ChainLink> chain,
                     const Shape* dense_shape) {
  assert(!chain.empty());
  if (chain.size() == 1) return std::move(chain[0].sum);
  join_sparse_links(setting, chain, nullptr);
  if (is_sparse(chain)) return std::move(chain[0].sum);
  make_links_dense(setting, chain, *dense_shape);
  return fold_links(setting, chain, dense_shape->element_count(), Cell::kPartial);
}

Value finished_chain(const SumSetting& setting, std::vector<ChainLink> chain,
                     const Shape* dense_shape, const Shape* sparse_shape, const Device& device) {
  join_sparse_links(setting, chain, sparse_shape);
  if (is_sparse(chain) && dense_shape == nullptr) {
    const Value whole = std::get<IndexedSlices>(std::move(chain[0].sum));
    const Term term{&whole, 0};
    return join_slices(setting.context, setting.arithmetic, {&term, 1}, sparse_shape);
  }
  make_links_dense(setting, chain, *dense_shape);
  const Arithmetic& arithmetic = setting.arithmetic;
  const bool is_finished = arithmetic.op == ReduceOp::kSum && chain.size() == 1 &&
                           arithmetic.size_of(Cell::kPartial) == arithmetic.size_of(Cell::kResult);
  Buffer sum = is_finished && std::holds_alternative<Buffer>(chain[0].sum)
                   ? std::get<Buffer>(std::move(chain[0].sum))
                   : fold_links(setting, chain, dense_shape->element_count(), Cell::kResult);
  return Tensor(std::move(sum), arithmetic.result, *dense_shape, device);
}

}  // namespace fanin
