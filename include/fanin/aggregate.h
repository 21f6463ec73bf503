#pragma once

#include <optional>
#include <span>

#include "fanin/add_n.h"
#include "fanin/aggregation_method.h"

namespace fanin {

/// The sum by one buffer: from left to right, in one pass, started from the first term. Otherwise
/// as add_n().
Tensor accumulate_n(std::span<const Tensor> terms, const SumOptions& options = {});

/// The sum of a whole list by a method; missing terms are dropped, and if none is left, so is the
/// sum. All terms are there, so no method needs more memory than the sum and some blocks that stay
/// in cache; what differs is the order in which is added:
/// - ADD_N: as add_n(). AUTO is the same.
/// - TREE: adjacent pairs, level by level, an odd one out carried up.
/// - ACCUMULATE_N: from left to right; with sparse terms, which it cannot take, as TREE.
/// A pair of sparse terms gives a sparse one, values and indices one after the other; a pair of a
/// sparse and a dense one gives a dense one. Accumulation::kExact has no order.
/// Throws InvalidArgument: kBadMethod, for an empty list too, and as add_n().
std::optional<Value> aggregate(std::span<const std::optional<Value>> terms,
                               AggregationMethod method = AggregationMethod::kDefault,
                               const SumOptions& options = {});

/// The same slices with ascending indices, each once: rows of one index are added in order of
/// appearance, or exactly. Throws InvalidArgument if the parts do not fit together
/// (kSparseMismatch) or an index is out of range (kIndexOutOfRange).
IndexedSlices coalesce(const IndexedSlices& slices, const SumOptions& options = {});

}  // namespace fanin
