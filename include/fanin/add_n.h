#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "fanin/context.h"
#include "fanin/indexed_slices.h"
#include "fanin/reduce_op.h"
#include "fanin/tensor.h"

namespace fanin {

struct SumOptions {
  Accumulation accumulation = Accumulation::kWide;

  /// Divide by the number of terms, before rounding. Integers give float32 (8 and 16 bit) or
  /// float64 (32 and 64 bit), the exact quotient rounded once.
  bool mean = false;

  /// What AUTO may hold at once while terms arrive. Nothing: a quarter of the machine's memory.
  std::optional<std::size_t> memory_budget_bytes = std::nullopt;

  /// Nothing: Context::process().
  Context* context = nullptr;
};

/// The sum of the terms, in one pass, in TensorFlow's AddN order: fold the first r = n mod 8 terms
/// (8 for 0, 9 for 1) from left to right, then add each further group of 8, folded by itself. The
/// bits depend on nothing else. Integers wrap. With Accumulation::kExact there is no order: the sum
/// is exact, and only the end rounds (or overflows).
/// Throws InvalidArgument if there are no terms (kEmpty), or if dtypes or shapes differ
/// (kDtypeMismatch, kShapeMismatch); the message names both.
Tensor add_n(std::span<const Tensor> terms, const SumOptions& options = {});

/// The same into `out`, which may be one of the terms or overlap them. Allocates nothing, except
/// when `out` overlaps a term without being equal to it, and the first time that a thread sums more
/// than 64 terms. A call that throws has written nothing.
void add_n(std::span<const Tensor> terms, const TensorView& out, const SumOptions& options = {});

/// Dense, sparse and missing terms. Missing ones are dropped; if all are, so is the result. Sparse
/// terms alone give a sparse sum: values and indices one after the other, duplicates kept; the mean
/// divides the values. With a dense one among them the sum is dense: a sparse term counts as zeros
/// to which its rows are added in order of appearance, then the order is the one above. With
/// Accumulation::kExact each of its rows is one more term there.
/// Throws as above, and for sparse terms that do not fit together (kSparseMismatch) or an index
/// outside of the dense shape (kIndexOutOfRange).
std::optional<Value> add_n(std::span<const std::optional<Value>> terms,
                           const SumOptions& options = {});

}  // namespace fanin
