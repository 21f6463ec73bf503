#pragma once

#include <variant>
#include <vector>

#include "aggregation/held_memory.h"
#include "fanin/context.h"
#include "fanin/indexed_slices.h"
#include "kernels/arithmetic.h"

namespace fanin {

/// What a sum that is under way holds: a term as it came (or several sparse ones, joined), or dense
/// partial cells.
using PartialSum = std::variant<Tensor, IndexedSlices, Buffer>;

PartialSum to_partial_sum(Value term);
std::size_t bytes_of(const PartialSum& sum);

/// A place in a chain of sums, and on which side of those before it stands.
struct ChainLink {
  PartialSum sum;
  bool is_earlier = false;
};

/// All that sums of one gradient need to know.
struct SumSetting {
  Context& context;
  Arithmetic arithmetic;  ///< its divisor only serves finished()
  HeldMemory& memory;
};

/// (((a + b) + c) + d): each link is added to the sum of those before it. Sparse ones are joined,
/// in the order of their sides, until a dense one comes; then all is dense, of `dense_shape`. One
/// pass, into memory of a link that has partial cells, if there is one. Lets go of the links, and
/// keeps count.
PartialSum sum_chain(const SumSetting& setting, std::vector<ChainLink> chain,
                     const Shape* dense_shape);

/// The same as the caller gets it: divided, rounded, on `device` if it is dense.
Value finished_chain(const SumSetting& setting, std::vector<ChainLink> chain,
                     const Shape* dense_shape, const Shape* sparse_shape, const Device& device);

}  // namespace fanin
