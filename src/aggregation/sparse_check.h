#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fanin/indexed_slices.h"

namespace fanin {

/// A term that is there, and its position in the caller's list, by which messages call it.
struct Term {
  const Value* value;
  std::size_t position;

  const Tensor* dense() const { return std::get_if<Tensor>(value); }
  const IndexedSlices* sparse() const { return std::get_if<IndexedSlices>(value); }
};

/// The dtype of a dense term's elements or of a sparse one's values.
DType dtype_of_term(const Term& term);

/// Throws unless the values, indices and dense_shape of each sparse term fit together
/// (kSparseMismatch), and all terms have one dtype (kDtypeMismatch).
void check_terms(std::span<const Term> terms);

/// The shape that all terms share, at least one of which is dense. Throws kShapeMismatch if there
/// is none.
const Shape& common_dense_shape(std::span<const Term> terms);

/// The dense shape that sparse terms share: nothing if none knows it. Throws kSparseMismatch if two
/// differ, kShapeMismatch if rows do.
std::optional<Shape> common_sparse_shape(std::span<const Term> terms);

/// The indices of a sparse term. Throws kIndexOutOfRange if one is negative or, where the shape is
/// known, not below its first extent.
std::vector<std::int64_t> checked_indices(const Term& term, const Shape* dense_shape);

}  // namespace fanin
