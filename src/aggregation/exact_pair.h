#pragma once

#include <cstdint>
#include <optional>

#include "aggregation/rounding.h"

namespace fanin {

/// A number that is the exact sum of two doubles.
struct ExactPair {
  double high;
  double low;
};

/// a + b, the nearest double and what it misses (Knuth's TwoSum; The Art of Computer Programming,
/// volume 2, 4.2.2). Where something is not finite, or overflows on the way, `low` is not finite.
inline ExactPair two_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// number / divisor, rounded once; nothing if doubles cannot tell. The number is finite, the
/// divisor from 1 to 2^53.
std::optional<double> quotient(const ExactPair& number, std::int64_t divisor, Rounding rounding);

}  // namespace fanin
