#include "aggregation/exact_mixed_sum.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "aggregation/exact_sum.h"

namespace fanin {
namespace {

/// One row of values of a sparse term.
struct Row {
  std::size_t index;
  const std::byte* values;
};

/// Those of all terms, by index.
std::vector<Row> sorted_rows(std::span<const Term> terms, const Shape& shape,
                             std::size_t row_bytes) {
  std::vector<Row> rows;
  for (const Term& term : terms) {
    if (term.sparse() == nullptr) continue;
    const std::byte* values = term.sparse()->values.bytes().data();
    for (const std::int64_t index : checked_indices(term, &shape)) {
      rows.push_back({static_cast<std::size_t>(index), values});
      values += row_bytes;
    }
  }
  std::ranges::sort(rows, {}, &Row::index);
  return rows;
}

}  // namespace

void exact_mixed_sum(Context& context, const Arithmetic& arithmetic, std::span<const Term> terms,
                     const Shape& shape, std::byte* target) {
  const auto row_count = static_cast<std::size_t>(shape[0]);
  const std::size_t row_elements = row_count == 0 ? 0 : shape.element_count() / row_count;
  const std::size_t row_bytes = row_elements * arithmetic.size_of(Cell::kInput);
  const std::vector<Row> rows = sorted_rows(terms, shape, row_bytes);
  if (shape.element_count() == 0) return;

  // One term of zeros stands for those of all sparse terms: more would not change the sum.
  const Buffer zeros = context.buffers().allocate(row_count * row_bytes);
  std::memset(zeros.bytes().data(), 0, zeros.size());
  std::vector<const std::byte*> everywhere = {zeros.bytes().data()};
  for (const Term& term : terms)
    if (const Tensor* dense = term.dense()) everywhere.push_back(dense->bytes().data());

  std::vector<Operand> sources;
  const auto sum_rows = [&](std::size_t begin, std::size_t end, std::span<const Row> more) {
    if (begin == end) return;
    sources.clear();
    for (const std::byte* data : everywhere) sources.push_back({.data = data + begin * row_bytes});
    for (const Row& row : more) sources.push_back({.data = row.values});
    exact_sum(context, arithmetic, sources, (end - begin) * row_elements,
              target + begin * row_bytes);
  };
  std::size_t done = 0;
  for (auto first = rows.begin(); first != rows.end();) {
    const std::size_t index = first->index;
    const auto last =
        std::find_if(first, rows.end(), [&](const Row& r) { return r.index != index; });
    sum_rows(done, index, {});
    sum_rows(index, index + 1, {first, last});
    done = index + 1;
    first = last;
  }
  sum_rows(done, row_count, {});
}

}  // namespace fanin
