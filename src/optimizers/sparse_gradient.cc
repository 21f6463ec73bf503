#include "optimizers/sparse_gradient.h"

#include <algorithm>
#include <cstring>

#include "core/require.h"
#include "fanin/aggregate.h"

namespace fanin {
namespace {

void check_shape(std::size_t index, const Shape& parameter, const IndexedSlices& slices) {
  require(slices.values.dtype() == DType::kFloat32, ErrorKind::kDtypeMismatch,
          "the sparse gradient of parameter {} is {}; optimizers take float32", index,
          name(slices.values.dtype()));
  if (slices.dense_shape && *slices.dense_shape != parameter)
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("the sparse gradient of parameter {} has dense_shape {}, but the parameter {}",
                    index, to_string(*slices.dense_shape), to_string(parameter)));
  const Shape& values = slices.values.shape();
  const bool rows_fit = parameter.rank() >= 1 && values.rank() == parameter.rank() &&
                        std::ranges::equal(values.dims().subspan(1), parameter.dims().subspan(1));
  if (!rows_fit)
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("the sparse gradient of parameter {} has values of shape {}, whose rows do not "
                    "fit into the parameter's shape {}",
                    index, to_string(values), to_string(parameter)));
}

std::vector<std::int64_t> rows_of(const Tensor& indices) {
  if (indices.dtype() == DType::kInt64) return indices.to_vector<std::int64_t>();
  const auto narrow = indices.to_vector<std::int32_t>();
  return {narrow.begin(), narrow.end()};
}

}  // namespace

SparseGradient::SparseGradient(std::size_t index, const Shape& parameter,
                               const IndexedSlices& slices, Context& context) {
  check_shape(index, parameter, slices);
  const IndexedSlices sum = coalesce(slices, {.context = &context});
  rows_ = rows_of(sum.indices);
  values_ = sum.values;
  require(rows_.empty() || rows_.back() < parameter[0], ErrorKind::kIndexOutOfRange,
          "the sparse gradient of parameter {} has index {}, but the parameter has {} rows", index,
          rows_.empty() ? 0 : rows_.back(), parameter[0]);
  if (!rows_.empty()) row_elements_ = values_.element_count() / rows_.size();
}

void SparseGradient::write_dense(std::size_t begin, std::span<float> elements) const {
  std::ranges::fill(elements, 0.0F);
  if (row_elements_ == 0 || elements.empty()) return;
  const std::size_t end = begin + elements.size();
  const auto first_row = static_cast<std::int64_t>(begin / row_elements_);
  for (auto row = std::ranges::lower_bound(rows_, first_row); row != rows_.end(); ++row) {
    const std::size_t row_begin = static_cast<std::size_t>(*row) * row_elements_;
    if (row_begin >= end) break;
    const std::size_t from = std::max(begin, row_begin);
    const std::size_t count = std::min(end, row_begin + row_elements_) - from;
    const std::size_t position =
        static_cast<std::size_t>(row - rows_.begin()) * row_elements_ + (from - row_begin);
    float* const target = elements.data() + (from - begin);
    std::memcpy(target, values_.bytes().data() + position * sizeof(float), count * sizeof(float));
    for (float& element : std::span(target, count)) element += 0.0F;  // -0 becomes 0
  }
}

}  // namespace fanin
