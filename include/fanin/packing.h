#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fanin/dtype.h"
#include "fanin/shape.h"

namespace fanin {

/// A gradient as planners see it.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool is_sparse = false;  ///< an IndexedSlices of this dense shape

  std::size_t byte_count() const { return shape.element_count() * size_of(dtype); }

  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

/// Which gradients travel together. The first that is set decides: bytes_per_pack, num_packs,
/// agg_small_grads_max_bytes. If none is, each travels alone.
struct Packing {
  /// A pack closes before it would exceed this many bytes; a larger tensor travels alone. Packs are
  /// formed from the last gradient to the first. 0: not set.
  std::int64_t bytes_per_pack = 0;
  /// All gradients of a dtype, one after the other, are cut into so many packs, whose sizes differ
  /// by one element at most. 0: not set.
  int num_packs = 0;
  /// Neighbours of at most this many bytes each, and of one dtype, form a pack. 0: not set.
  std::int64_t agg_small_grads_max_bytes = 0;
  int agg_small_grads_max_group = 10;  ///< so many at most

  friend bool operator==(const Packing&, const Packing&) = default;
};

/// Throws InvalidArgument (kBadOption) if something is negative.
void check(const Packing& packing);

/// Gradients of one dtype that travel as one, as a view of them.
struct Pack {
  struct Piece {
    std::size_t tensor;  ///< in the list that was packed
    std::size_t begin;   ///< its first element
    std::size_t count;

    friend bool operator==(const Piece&, const Piece&) = default;
  };
  DType dtype = DType::kFloat32;
  std::vector<Piece> pieces;

  std::size_t element_count() const;
  std::size_t byte_count() const { return element_count() * size_of(dtype); }

  friend bool operator==(const Pack&, const Pack&) = default;
};

/// The packs in the order in which they are sent. Every element is in one of them; a tensor without
/// elements may be in none. Sparse ones cannot travel together: each is a pack of its own, after
/// the dense ones, from the last to the first. Throws as check().
std::vector<Pack> make_packs(std::span<const TensorInfo> tensors, const Packing& packing);

}  // namespace fanin
