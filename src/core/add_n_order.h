#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fanin {

/// The ADD_N order adds groups of this many terms, each folded first.
inline constexpr std::size_t kAddNGroup = 8;

/// How many of `count` terms are folded from left to right before the groups: TensorFlow's rule,
/// count mod 8, with 8 for 0 and 9 for 1. Up to 9 terms this is all of them.
constexpr std::size_t add_n_lead(std::size_t count) {
  if (count <= kAddNGroup + 1) return count;
  const std::size_t rest = count % kAddNGroup;
  return rest <= 1 ? rest + kAddNGroup : rest;
}

/// The same as group sizes: the lead, then the groups. None if the lead is all there is.
inline void assign_add_n_groups(std::size_t count, std::vector<std::uint8_t>& sizes) {
  const std::size_t lead = add_n_lead(count);
  sizes.clear();
  if (lead == count) return;
  sizes.assign(1 + (count - lead) / kAddNGroup, kAddNGroup);
  sizes.front() = static_cast<std::uint8_t>(lead);
}

}  // namespace fanin
