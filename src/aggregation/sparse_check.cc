#include "aggregation/sparse_check.h"

#include <algorithm>

#include "aggregation/dense_sum.h"
#include "core/require.h"

namespace fanin {
namespace {

/// The extents of one row: all but the first.
Shape row_of(const Shape& shape) {
  return Shape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

void check_slices(const IndexedSlices& slices, std::size_t position) {
  const Shape& values = slices.values.shape();
  const Shape& indices = slices.indices.shape();
  const DType index_type = slices.indices.dtype();
  require(index_type == DType::kInt32 || index_type == DType::kInt64, ErrorKind::kSparseMismatch,
          "sparse term {} has {} indices; indices are int32 or int64", position, name(index_type));
  require(indices.rank() == 1, ErrorKind::kSparseMismatch,
          "sparse term {} has indices of shape {}; indices have one dimension", position,
          to_string(indices));
  require(values.rank() >= 1 && values[0] == indices[0], ErrorKind::kSparseMismatch,
          "sparse term {} has values of shape {} for {} indices; each index has one row", position,
          to_string(values), indices[0]);
  if (!slices.dense_shape) return;
  require(slices.dense_shape->rank() >= 1 && row_of(*slices.dense_shape) == row_of(values),
          ErrorKind::kSparseMismatch,
          "sparse term {} has values of shape {}, whose rows do not fit its dense_shape {}",
          position, to_string(values), to_string(*slices.dense_shape));
}

}  // namespace

DType dtype_of_term(const Term& term) {
  return term.dense() != nullptr ? term.dense()->dtype() : term.sparse()->values.dtype();
}

void check_terms(std::span<const Term> terms) {
  for (const Term& term : terms)
    if (term.sparse() != nullptr) check_slices(*term.sparse(), term.position);
  for (const Term& term : terms)
    check_dtypes(terms.front().position, dtype_of_term(terms.front()), term.position,
                 dtype_of_term(term));
}

const Shape& common_dense_shape(std::span<const Term> terms) {
  const Term& first = *std::ranges::find_if(terms, [](const Term& t) { return t.dense(); });
  const Shape& shape = first.dense()->shape();
  for (const Term& term : terms) {
    if (term.dense() != nullptr) {
      check_shapes(first.position, shape, term.position, term.dense()->shape());
    } else if (term.sparse()->dense_shape) {
      check_shapes(first.position, shape, term.position, *term.sparse()->dense_shape);
    } else {
      require(shape.rank() >= 1 && row_of(shape) == row_of(term.sparse()->values.shape()),
              ErrorKind::kShapeMismatch,
              "term {} has shape {}, into which the rows of sparse term {}, with values of shape "
              "{}, do not fit",
              first.position, to_string(shape), term.position,
              to_string(term.sparse()->values.shape()));
    }
  }
  return shape;
}

std::optional<Shape> common_sparse_shape(std::span<const Term> terms) {
  const auto known = std::ranges::find_if(
      terms, [](const Term& t) { return t.sparse()->dense_shape.has_value(); });
  for (auto term = known; term != terms.end(); ++term) {
    const auto& shape = term->sparse()->dense_shape;
    require(!shape || *shape == *known->sparse()->dense_shape, ErrorKind::kSparseMismatch,
            "sparse term {} has dense_shape {} but sparse term {} has {}", known->position,
            to_string(*known->sparse()->dense_shape), term->position,
            shape ? to_string(*shape) : std::string());
  }
  const Shape& first = terms.front().sparse()->values.shape();
  for (const Term& term : terms) {
    const Shape& values = term.sparse()->values.shape();
    require(row_of(values) == row_of(first), ErrorKind::kShapeMismatch,
            "sparse term {} has values of shape {} but sparse term {} has {}; their rows differ",
            terms.front().position, to_string(first), term.position, to_string(values));
  }
  return known == terms.end() ? std::nullopt : known->sparse()->dense_shape;
}

std::vector<std::int64_t> checked_indices(const Term& term, const Shape* dense_shape) {
  const Tensor& tensor = term.sparse()->indices;
  std::vector<std::int64_t> indices;
  if (tensor.dtype() == DType::kInt64) {
    indices = tensor.to_vector<std::int64_t>();
  } else {
    const auto narrow = tensor.to_vector<std::int32_t>();
    indices.assign(narrow.begin(), narrow.end());
  }
  for (const std::int64_t index : indices) {
    require(index >= 0, ErrorKind::kIndexOutOfRange, "sparse term {} has index {}, below 0",
            term.position, index);
    if (dense_shape == nullptr || index < (*dense_shape)[0]) continue;
    throw InvalidArgument(
        ErrorKind::kIndexOutOfRange,
        fmt::format("sparse term {} has index {}, but dense_shape {} has {} rows", term.position,
                    index, to_string(*dense_shape), (*dense_shape)[0]));
  }
  return indices;
}

}  // namespace fanin
