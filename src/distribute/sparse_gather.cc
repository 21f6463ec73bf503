#include "distribute/sparse_gather.h"

#include <cstring>
#include <optional>

#include "core/require.h"
#include "fanin/add_n.h"

namespace fanin {
namespace {

/// What ranks must know of each other's slices before these travel: whether indices have 64 bits,
/// and the dense shape if it is known.
std::vector<std::int64_t> head_of(const IndexedSlices& slices) {
  std::vector<std::int64_t> head = {slices.indices.dtype() == DType::kInt64 ? 1 : 0,
                                    slices.dense_shape ? 1 : 0};
  if (slices.dense_shape)
    head.insert(head.end(), slices.dense_shape->dims().begin(), slices.dense_shape->dims().end());
  return head;
}

Tensor with_64_bits(const Tensor& indices) {
  std::vector<std::int64_t> wide;
  for (const std::int32_t index : indices.to_vector<std::int32_t>()) wide.push_back(index);
  return Tensor::of(std::span<const std::int64_t>(wide), indices.shape());
}

}  // namespace

IndexedSlices gather_slices(Group& group, const IndexedSlices& mine, const MoveOptions& how) {
  MoveOptions options = how;
  if (!options.epoch) options.epoch = group.epoch();
  const std::vector<std::int64_t> head = head_of(mine);
  const std::int64_t length = static_cast<std::int64_t>(head.size());
  const std::vector<std::int64_t> lengths =
      group.all_gather(Tensor::of({length}, {1}), options).to_vector<std::int64_t>();
  const std::vector<std::int64_t> heads =
      group.all_gather(Tensor::of(std::span<const std::int64_t>(head), {length}), options)
          .to_vector<std::int64_t>();

  bool is_wide = false;
  std::optional<Shape> shape;
  int shape_rank = 0;
  auto at = heads.begin();
  for (int rank = 0; rank < group.size(); ++rank) {
    const std::int64_t count = lengths[static_cast<std::size_t>(rank)];
    is_wide |= at[0] != 0;
    if (at[1] != 0) {
      const Shape theirs(std::vector<std::int64_t>(at + 2, at + count));
      if (shape && *shape != theirs)
        throw InvalidArgument(ErrorKind::kSparseMismatch,
                              fmt::format("the sparse value of rank {} has dense_shape {}, that of "
                                          "rank {} has {}",
                                          shape_rank, to_string(*shape), rank, to_string(theirs)));
      if (!shape) shape_rank = rank;
      shape = theirs;
    }
    at += count;
  }
  const bool must_widen = is_wide && mine.indices.dtype() == DType::kInt32;
  IndexedSlices all{
      .values = group.all_gather(mine.values, options),
      .indices = group.all_gather(must_widen ? with_64_bits(mine.indices) : mine.indices, options),
      .dense_shape = shape};
  // A shape that only another rank knows bounds the indices of all.
  const std::optional<Value> whole = all;
  return std::get<IndexedSlices>(*add_n({&whole, 1}));
}

}  // namespace fanin
