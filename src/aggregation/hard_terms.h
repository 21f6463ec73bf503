#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "fanin/dtype.h"

namespace fanin {

// For tests: terms that are hard to sum exactly, of any floating-point type.

using Random = std::mt19937_64;

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <typename T>
double to_double(T value) {
  if constexpr (sizeof(T) == 2)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

template <typename T>
T from_bits(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

template <typename T>
T negative(T value) {
  return from_bits<T>(std::bit_cast<BitsOf<T>>(value) ^ (BitsOf<T>{1} << (sizeof(T) * 8 - 1)));
}

/// Ways to make the terms of one element.
enum class Data : std::uint8_t {
  kAnyBits,      // infinities and NaN too
  kAnyFinite,    // every exponent
  kNearOne,      // what gradients are
  kSubnormal,    // or a little above
  kCancelling,   // every second term takes back an earlier one, some by a last place more or less
  kTies,         // one, halves of its last place, and sometimes something tiny
  kOverflowing,  // the largest numbers
  kZeros,
};
inline constexpr Data kData[] = {Data::kAnyBits,     Data::kAnyFinite,  Data::kNearOne,
                                 Data::kSubnormal,   Data::kCancelling, Data::kTies,
                                 Data::kOverflowing, Data::kZeros};

template <typename T>
T any_finite(Random& random) {
  for (;;)
    if (const T value = from_bits<T>(random()); std::isfinite(to_double(value))) return value;
}

/// A step of the bits is the next number.
template <typename T>
T next(T value, int steps) {
  return from_bits<T>(static_cast<std::uint64_t>(std::bit_cast<BitsOf<T>>(value)) +
                      static_cast<std::uint64_t>(steps));
}

template <typename T>
T converted(double value) {
  if constexpr (sizeof(T) == 2)
    return T(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <typename T>
T tie_part(Random& random) {
  const double last_place = to_double(next(converted<T>(1), 1)) - 1;
  const double parts[] = {1, 1 + last_place, last_place / 2, last_place / 2, last_place / 4};
  if (random() % 8 == 0) return from_bits<T>(1 + random() % 3);
  const T part = converted<T>(parts[random() % std::size(parts)]);
  return random() % 3 == 0 ? negative(part) : part;
}

template <typename T>
std::vector<T> make_column(Data data, std::size_t term_count, Random& random) {
  std::normal_distribution<double> normal(0, 1);
  const T largest = from_bits<T>(std::bit_cast<BitsOf<T>>(converted<T>(HUGE_VAL)) - 1U);
  std::vector<T> column;
  while (column.size() < term_count) {
    switch (data) {
      case Data::kAnyBits:
        column.push_back(from_bits<T>(random()));
        break;
      case Data::kAnyFinite:
        column.push_back(any_finite<T>(random));
        break;
      case Data::kNearOne:
        column.push_back(converted<T>(normal(random)));
        break;
      case Data::kSubnormal: {
        const T value = from_bits<T>(random() % (std::uint64_t{5} << (sizeof(T) == 2 ? 6 : 22)));
        column.push_back(random() % 2 == 0 ? value : negative(value));
        break;
      }
      case Data::kCancelling:
        if (column.size() % 2 == 0)
          column.push_back(any_finite<T>(random));
        else
          column.push_back(next(negative(column[random() % column.size()]),
                                random() % 4 == 0 ? (random() % 2 == 0 ? 1 : -1) : 0));
        break;
      case Data::kTies:
        column.push_back(tie_part<T>(random));
        break;
      case Data::kOverflowing: {
        const T value = next(largest, -static_cast<int>(random() % 3));
        column.push_back(random() % 2 == 0 ? value : negative(value));
        break;
      }
      case Data::kZeros:
        column.push_back(random() % 4 == 0 ? converted<T>(0.0) : converted<T>(-0.0));
        break;
    }
  }
  std::ranges::shuffle(column, random);
  return column;
}

template <typename T>
std::vector<std::vector<T>> make_terms(Data data, std::size_t term_count, std::size_t element_count,
                                       Random& random) {
  std::vector<std::vector<T>> terms(term_count, std::vector<T>(element_count));
  for (std::size_t i = 0; i < element_count; ++i) {
    const auto column = make_column<T>(data, term_count, random);
    for (std::size_t k = 0; k < term_count; ++k) terms[k][i] = column[k];
  }
  return terms;
}

}  // namespace fanin
