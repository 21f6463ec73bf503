#include "aggregation/term_check.h"

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

/// The rows of a sparse term among those of a dense one.
void check_rows_fit(std::size_t dense_position, const Shape& dense, std::size_t sparse_position,
                    const Shape& values) {
  require(dense.rank() >= 1 && row_of(dense) == row_of(values), ErrorKind::kShapeMismatch,
          "term {} has shape {}, into which the rows of sparse term {}, with values of shape {}, "
          "do not fit",
          dense_position, to_string(dense), sparse_position, to_string(values));
}

void check_index(std::size_t position, std::int64_t index, const Shape* dense_shape) {
  require(index >= 0, ErrorKind::kIndexOutOfRange, "sparse term {} has index {}, below 0", position,
          index);
  if (dense_shape == nullptr || index < (*dense_shape)[0]) [[likely]]
    return;
  throw InvalidArgument(ErrorKind::kIndexOutOfRange,
                        fmt::format("sparse term {} has index {}, but dense_shape {} has {} rows",
                                    position, index, to_string(*dense_shape), (*dense_shape)[0]));
}

}  // namespace

DType dtype_of_term(const Term& term) {
  return term.dense() != nullptr ? term.dense()->dtype() : term.sparse()->values.dtype();
}

std::size_t bytes_of_value(const Value& value) {
  if (const auto* dense = std::get_if<Tensor>(&value)) return dense->bytes().size();
  const auto& sparse = std::get<IndexedSlices>(value);
  return sparse.values.bytes().size() + sparse.indices.bytes().size();
}

void TermCheck::check_highest_index(const Shape& shape) const {
  if (highest_) check_index(highest_->position, highest_->value, &shape);
}

void TermCheck::check_dense(const Term& term) const {
  const Shape& shape = term.dense()->shape();
  if (dense_) return check_shapes(dense_->position, dense_->shape, term.position, shape);
  if (sparse_) check_shapes(sparse_->position, sparse_->shape, term.position, shape);
  if (rows_) check_rows_fit(term.position, shape, rows_->position, rows_->shape);
  check_highest_index(shape);
}

void TermCheck::check_sparse(const Term& term) const {
  const IndexedSlices& slices = *term.sparse();
  const Shape& values = slices.values.shape();
  if (dense_ && slices.dense_shape)
    check_shapes(dense_->position, dense_->shape, term.position, *slices.dense_shape);
  if (dense_) check_rows_fit(dense_->position, dense_->shape, term.position, values);
  if (slices.dense_shape && sparse_ && sparse_->shape != *slices.dense_shape)
    throw InvalidArgument(ErrorKind::kSparseMismatch,
                          fmt::format("sparse term {} has dense_shape {} but sparse term {} has {}",
                                      sparse_->position, to_string(sparse_->shape), term.position,
                                      to_string(*slices.dense_shape)));
  if (rows_ && row_of(rows_->shape) != row_of(values))
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("sparse term {} has values of shape {} but sparse term {} has {}; their rows "
                    "differ",
                    rows_->position, to_string(rows_->shape), term.position, to_string(values)));
  if (slices.dense_shape && !sparse_) check_highest_index(*slices.dense_shape);
}

void TermCheck::accept(const Term& term) {
  const IndexedSlices* const sparse = term.sparse();
  if (sparse != nullptr) check_slices(*sparse, term.position);
  const DType dtype = dtype_of_term(term);
  if (first_) check_dtypes(first_->position, first_->dtype, term.position, dtype);

  if (sparse == nullptr) {
    check_dense(term);
    if (!dense_) dense_ = {term.position, term.dense()->shape()};
  } else {
    check_sparse(term);
    const Shape* shape = dense_shape();
    if (shape == nullptr) shape = sparse->dense_shape ? &*sparse->dense_shape : sparse_shape();
    const auto indices = checked_indices(term, shape);
    if (!indices.empty()) {
      const std::int64_t highest = *std::ranges::max_element(indices);
      if (!highest_ || highest > highest_->value) highest_ = {term.position, highest};
    }
    if (!rows_) rows_ = {term.position, sparse->values.shape()};
    if (!sparse_ && sparse->dense_shape) sparse_ = {term.position, *sparse->dense_shape};
  }
  if (!first_) first_ = {term.position, dtype};
}

TermCheck check_terms(std::span<const Term> terms) {
  TermCheck check;
  for (const Term& term : terms)
    if (term.dense() != nullptr) check.accept(term);
  for (const Term& term : terms)
    if (term.sparse() != nullptr) check.accept(term);
  return check;
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
  for (const std::int64_t index : indices) check_index(term.position, index, dense_shape);
  return indices;
}

}  // namespace fanin
