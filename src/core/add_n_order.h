#pragma once

#include <cstddef>

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

}  // namespace fanin
