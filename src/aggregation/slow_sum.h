#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "fanin/dtype.h"

namespace fanin {

// The sum by its definition, for tests: one element at a time, nothing shared with the kernels.

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// What is added: floats as they are, halves as float, integers as unsigned ones, which wrap.
template <typename T>
auto widen(T value) {
  if constexpr (kIsHalf<T>)
    return static_cast<float>(value);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(value);
  else
    return value;
}

template <typename T>
using Wide = decltype(widen(T()));

template <typename T>
Wide<T> add(Wide<T> a, Wide<T> b, bool rounds_each_step) {
  const auto sum = static_cast<Wide<T>>(a + b);
  if constexpr (kIsHalf<T>)
    return rounds_each_step ? static_cast<float>(T(sum)) : sum;
  else
    return sum;
}

/// Element `at` of the terms: the first r = n mod 8 (8 for 0, 9 for 1) from left to right, then
/// each further 8, folded by themselves.
template <typename T>
Wide<T> slow_wide_sum(const std::vector<std::vector<T>>& terms, std::size_t at,
                      bool rounds_each_step = false) {
  std::size_t first = terms.size() % 8;
  if (first <= 1 && terms.size() > 1) first += 8;
  const auto fold = [&](std::size_t begin, std::size_t end) {
    Wide<T> sum = widen(terms[begin][at]);
    for (std::size_t i = begin + 1; i < end; ++i)
      sum = add<T>(sum, widen(terms[i][at]), rounds_each_step);
    return sum;
  };
  Wide<T> sum = fold(0, first);
  for (std::size_t begin = first; begin < terms.size(); begin += 8)
    sum = add<T>(sum, fold(begin, begin + 8), rounds_each_step);
  return sum;
}

template <typename T>
std::vector<T> slow_sum(const std::vector<std::vector<T>>& terms, bool rounds_each_step = false) {
  std::vector<T> sums;
  for (std::size_t i = 0; i < terms.front().size(); ++i)
    sums.push_back(static_cast<T>(slow_wide_sum(terms, i, rounds_each_step)));
  return sums;
}

}  // namespace fanin
