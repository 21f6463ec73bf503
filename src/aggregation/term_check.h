#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Bytes of its elements, and of its indices.
std::size_t bytes_of_value(const Value& value);

/// Whether terms that come one after the other fit together. It holds shapes, no terms.
class TermCheck {
 public:
  /// Throws unless the term's own parts fit together (kSparseMismatch), and it has the dtype
  /// (kDtypeMismatch) and the shape of those accepted before: kShapeMismatch between dense terms,
  /// between a dense and a sparse one, and for rows; kSparseMismatch between dense_shapes;
  /// kIndexOutOfRange for an index that is negative or beyond the shape, once one is known.
  /// Remembers the term's shape otherwise. A call that throws has changed nothing.
  void accept(const Term& term);

  bool is_empty() const { return !first_; }
  DType dtype() const { return first_->dtype; }  ///< not when empty

  /// Of the dense terms; nothing if there is none.
  const Shape* dense_shape() const { return dense_ ? &dense_->shape : nullptr; }

  /// What sparse terms say of the dense shape; nothing if none knows it.
  const Shape* sparse_shape() const { return sparse_ ? &sparse_->shape : nullptr; }

 private:
  struct First {
    std::size_t position;
    DType dtype;
  };
  struct Known {
    std::size_t position;
    Shape shape;
  };
  struct Index {
    std::size_t position;
    std::int64_t value;
  };

  void check_dense(const Term& term) const;
  void check_sparse(const Term& term) const;
  void check_highest_index(const Shape& shape) const;

  std::optional<First> first_;
  std::optional<Known> dense_;
  std::optional<Known> sparse_;
  std::optional<Known> rows_;     // shape of the values of the first sparse term
  std::optional<Index> highest_;  // of the sparse terms
};

/// Accepts all of them, dense ones first: a sparse term that does not fit a dense one is told so.
TermCheck check_terms(std::span<const Term> terms);

/// The indices of a sparse term. Throws kIndexOutOfRange if one is negative or, where the shape is
/// known, not below its first extent.
std::vector<std::int64_t> checked_indices(const Term& term, const Shape* dense_shape);

}  // namespace fanin
