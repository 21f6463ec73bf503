#include "fanin/packing.h"

#include <algorithm>

#include "core/require.h"

namespace fanin {
namespace {

Pack::Piece whole(std::span<const TensorInfo> tensors, std::size_t index) {
  return {index, 0, tensors[index].shape.element_count()};
}

Pack alone(std::span<const TensorInfo> tensors, std::size_t index) {
  return {tensors[index].dtype, {whole(tensors, index)}};
}

std::vector<Pack> pack_by_bytes(std::span<const TensorInfo> tensors, std::size_t most_bytes) {
  std::vector<Pack> packs;
  std::size_t bytes = 0;  // of the last pack
  for (std::size_t index = tensors.size(); index-- > 0;) {
    const std::size_t more = tensors[index].byte_count();
    const bool fits = !packs.empty() && packs.back().dtype == tensors[index].dtype &&
                      bytes <= most_bytes && more <= most_bytes - bytes;
    if (fits) {
      packs.back().pieces.push_back(whole(tensors, index));
      bytes += more;
    } else {
      packs.push_back(alone(tensors, index));
      bytes = more;
    }
  }
  return packs;
}

std::vector<Pack> pack_small(std::span<const TensorInfo> tensors, const Packing& packing) {
  const auto most_bytes = static_cast<std::size_t>(packing.agg_small_grads_max_bytes);
  const auto most_members = static_cast<std::size_t>(packing.agg_small_grads_max_group);
  std::vector<Pack> packs;
  bool is_open = false;  // the last pack may take more
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const bool is_small = tensors[index].byte_count() <= most_bytes;
    const bool fits = is_open && is_small && packs.back().dtype == tensors[index].dtype &&
                      packs.back().pieces.size() < most_members;
    if (fits)
      packs.back().pieces.push_back(whole(tensors, index));
    else
      packs.push_back(alone(tensors, index));
    is_open = is_small;
  }
  return packs;
}

/// Elements [begin, end) of tensors that stand one after the other in `members`.
Pack cut(std::span<const TensorInfo> tensors, const std::vector<std::size_t>& members,
         std::size_t begin, std::size_t end) {
  Pack pack{tensors[members.front()].dtype, {}};
  std::size_t at = 0;  // of the first element of the member
  for (const std::size_t index : members) {
    const std::size_t next = at + tensors[index].shape.element_count();
    const std::size_t first = std::max(at, begin);
    const std::size_t last = std::min(next, end);
    if (first < last) pack.pieces.push_back({index, first - at, last - first});
    at = next;
  }
  return pack;
}

std::vector<Pack> pack_by_number(std::span<const TensorInfo> tensors, std::size_t number) {
  std::vector<std::vector<std::size_t>> by_dtype;  // in order of appearance
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const auto found = std::ranges::find_if(by_dtype, [&](const auto& members) {
      return tensors[members.front()].dtype == tensors[index].dtype;
    });
    if (found == by_dtype.end())
      by_dtype.push_back({index});
    else
      found->push_back(index);
  }
  std::vector<Pack> packs;
  for (const std::vector<std::size_t>& members : by_dtype) {
    std::size_t count = 0;
    for (const std::size_t index : members) count += tensors[index].shape.element_count();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < std::min(number, count); ++i) {
      const std::size_t end = begin + count / number + (i < count % number ? 1 : 0);
      packs.push_back(cut(tensors, members, begin, end));
      begin = end;
    }
  }
  return packs;
}

std::vector<Pack> pack_dense(std::span<const TensorInfo> tensors, const Packing& packing) {
  if (packing.bytes_per_pack > 0)
    return pack_by_bytes(tensors, static_cast<std::size_t>(packing.bytes_per_pack));
  if (packing.num_packs > 0)
    return pack_by_number(tensors, static_cast<std::size_t>(packing.num_packs));
  if (packing.agg_small_grads_max_bytes > 0) return pack_small(tensors, packing);
  std::vector<Pack> packs;
  for (std::size_t index = 0; index < tensors.size(); ++index)
    packs.push_back(alone(tensors, index));
  return packs;
}

}  // namespace

void check(const Packing& packing) {
  require(packing.bytes_per_pack >= 0, ErrorKind::kBadOption,
          "bytes_per_pack is {}; use 0 (not set) or more", packing.bytes_per_pack);
  require(packing.num_packs >= 0, ErrorKind::kBadOption, "num_packs is {}; use 0 (not set) or more",
          packing.num_packs);
  require(packing.agg_small_grads_max_bytes >= 0, ErrorKind::kBadOption,
          "agg_small_grads_max_bytes is {}; use 0 (not set) or more",
          packing.agg_small_grads_max_bytes);
  require(packing.agg_small_grads_max_group >= 0, ErrorKind::kBadOption,
          "agg_small_grads_max_group is {}; use 0 or more", packing.agg_small_grads_max_group);
}

std::size_t Pack::element_count() const {
  std::size_t count = 0;
  for (const Piece& piece : pieces) count += piece.count;
  return count;
}

std::vector<Pack> make_packs(std::span<const TensorInfo> tensors, const Packing& packing) {
  check(packing);
  if (std::ranges::none_of(tensors, &TensorInfo::is_sparse)) return pack_dense(tensors, packing);
  std::vector<TensorInfo> dense;
  std::vector<std::size_t> positions;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (tensors[index].is_sparse) continue;
    dense.push_back(tensors[index]);
    positions.push_back(index);
  }
  std::vector<Pack> packs = pack_dense(dense, packing);
  for (Pack& pack : packs)
    for (Pack::Piece& piece : pack.pieces) piece.tensor = positions[piece.tensor];
  for (std::size_t index = tensors.size(); index-- > 0;)
    if (tensors[index].is_sparse) packs.push_back(alone(tensors, index));
  return packs;
}

}  // namespace fanin
