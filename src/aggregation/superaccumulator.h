#pragma once

#include <cstdint>

#include "aggregation/rounding.h"

namespace fanin {

/// The exact sum of any number of doubles: one integer that counts units of 2^-1074 and is long
/// enough for all of them. Its limbs weigh 2^32 each and have 64 bits, so that carries can wait.
class Superaccumulator {
 public:
  /// Tests wait for fewer terms before a carry.
  explicit Superaccumulator(std::int64_t terms_before_carry = std::int64_t{1} << 30);

  void add(double term);

  /// The sum of at least one term, divided by `divisor`, which is at least 1, rounded once. It is
  /// -0.0 if all terms are; infinities and NaN give what adding them gives. The accumulator is
  /// empty then, for the next sum.
  double finish(std::int64_t divisor, Rounding rounding);

 private:
  // 2098 bits of a double, and 64 for the number of terms.
  static constexpr int kLimbCount = 68;

  /// The digits of a positive number, digits * 2^exponent. The highest bit is set; the lowest one
  /// is set too if anything was cut off.
  struct Digits {
    std::uint64_t digits;
    int exponent;
  };

  void carry();
  bool make_positive();
  Digits leading_digits(std::uint64_t divisor) const;
  bool has_digits_below(int limb) const;
  void clear();
  static double round(const Digits& number, Rounding rounding);

  std::int64_t limbs_[kLimbCount] = {};
  // Limbs outside of these are 0. After a carry each is from 0 to 2^32 - 1 but the last, which has
  // the sign.
  int first_ = kLimbCount;
  int last_ = 0;
  const std::int64_t terms_before_carry_;
  std::int64_t terms_left_;
  double not_finite_ = 0;  // the sum of infinities and NaN
  bool has_only_minus_zeros_ = true;
};

}  // namespace fanin
