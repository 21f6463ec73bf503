#pragma once

#include <cstdint>

namespace fanin {

/// Which double a number becomes that lies between two of them.
enum class Rounding : std::uint8_t {
  kNearest,  // ties to even
  /// The one whose last digit is 1. Rounded further, to nearest in a type with at most 51 digits,
  /// it gives what the number itself would have given.
  kOdd,
};

}  // namespace fanin
