#include "aggregation/superaccumulator.h"

#include <algorithm>
#include <bit>

#include "kernels/quotient.h"

namespace fanin {
namespace {

constexpr int kLimbBits = 32;
constexpr std::uint64_t kLimbMask = 0xffff'ffffU;
constexpr int kLowestExponent = -1074;
constexpr int kDigits = 53;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7ff} << (kDigits - 1);
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

}  // namespace

Superaccumulator::Superaccumulator(std::int64_t terms_before_carry)
    : terms_before_carry_(terms_before_carry), terms_left_(terms_before_carry) {}

void Superaccumulator::add(double term) {
  const auto bits = std::bit_cast<std::uint64_t>(term);
  has_only_minus_zeros_ &= bits == kSign;
  const std::uint64_t magnitude = bits & ~kSign;
  if (magnitude >= kInfinity) {
    not_finite_ += term;
    return;
  }
  const auto biased_exponent = static_cast<int>(magnitude >> (kDigits - 1));
  std::uint64_t digits = magnitude & ((std::uint64_t{1} << (kDigits - 1)) - 1);
  if (biased_exponent != 0) digits |= std::uint64_t{1} << (kDigits - 1);
  if (digits == 0) return;

  const int position = std::max(biased_exponent, 1) - 1;  // of the last digit
  const int limb = position / kLimbBits;
  const int shift = position % kLimbBits;
  const std::uint64_t upper = digits >> (kLimbBits - shift);
  const std::int64_t parts[] = {static_cast<std::int64_t>(digits << shift & kLimbMask),
                                static_cast<std::int64_t>(upper & kLimbMask),
                                static_cast<std::int64_t>(upper >> kLimbBits)};
  const std::int64_t sign = (bits & kSign) != 0 ? -1 : 1;
  std::int64_t* const limbs = limbs_ + limb;
  for (int i = 0; i < 3; ++i) limbs[i] += sign * parts[i];
  first_ = std::min(first_, limb);
  last_ = std::max(last_, limb + 2);
  if (--terms_left_ == 0) carry();
}

void Superaccumulator::carry() {
  terms_left_ = terms_before_carry_;
  // The last limb keeps what fits in half of it, so that as many terms fit again.
  const auto fits = [](std::int64_t limb) { return limb == static_cast<std::int32_t>(limb); };
  for (int i = first_; i < last_ || !fits(limbs_[i]); ++i) {
    std::int64_t& limb = limbs_[i];
    limbs_[i + 1] += limb >> kLimbBits;
    limb &= static_cast<std::int64_t>(kLimbMask);
    last_ = std::max(last_, i + 1);
  }
}

/// Turns the sign of a negative sum. Returns whether it was one.
bool Superaccumulator::make_positive() {
  carry();
  if (limbs_[last_] >= 0) return false;
  for (int i = first_; i <= last_; ++i) limbs_[i] = -limbs_[i];
  carry();
  return true;
}

bool Superaccumulator::has_digits_below(int limb) const {
  for (int i = first_; i < std::min(limb, last_ + 1); ++i)
    if (limbs_[i] != 0) return true;
  return false;
}

/// Long division, limb by limb, until there are more digits than 64 bits hold. The sum is positive.
Superaccumulator::Digits Superaccumulator::leading_digits(std::uint64_t divisor) const {
  UInt128 quotient = 0;
  std::uint64_t remainder = 0;
  int limb = last_ + 1;
  while (quotient >> 64 == 0) {
    --limb;
    UInt128 dividend = static_cast<UInt128>(remainder) << kLimbBits;
    if (limb >= first_) dividend |= static_cast<std::uint64_t>(limbs_[limb]);
    quotient = quotient << kLimbBits | dividend / divisor;
    remainder = static_cast<std::uint64_t>(dividend % divisor);
  }
  const int excess = 64 - std::countl_zero(static_cast<std::uint64_t>(quotient >> 64));
  const UInt128 cut = quotient & ((static_cast<UInt128>(1) << excess) - 1);
  const bool is_inexact = cut != 0 || remainder != 0 || has_digits_below(limb);
  return {static_cast<std::uint64_t>(quotient >> excess) | (is_inexact ? 1U : 0U),
          kLowestExponent + limb * kLimbBits + excess};
}

double Superaccumulator::round(const Digits& number, Rounding rounding) {
  // The exponent of the last digit that stays: subnormal numbers have fewer of them.
  const int last_exponent = std::max(number.exponent + 64 - kDigits, kLowestExponent);
  const int shift = last_exponent - number.exponent;
  std::uint64_t kept = shift < 64 ? number.digits >> shift : 0;
  std::uint64_t rest = 1;  // something, below one half
  if (shift <= 64) rest = number.digits << (64 - shift);
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  if (rounding == Rounding::kOdd)
    kept |= rest != 0 ? 1U : 0U;
  else
    kept += rest > kHalf || (rest == kHalf && (kept & 1) != 0) ? 1U : 0U;
  // The highest digit, which is not stored, and a carry out of the others count up the exponent.
  const auto steps = static_cast<std::uint64_t>(last_exponent - kLowestExponent);
  return std::bit_cast<double>(std::min((steps << (kDigits - 1)) + kept, kInfinity));
}

void Superaccumulator::clear() {
  if (first_ <= last_) std::fill(limbs_ + first_, limbs_ + last_ + 1, 0);
  first_ = kLimbCount;
  last_ = 0;
  terms_left_ = terms_before_carry_;
  not_finite_ = 0;
  has_only_minus_zeros_ = true;
}

double Superaccumulator::finish(std::int64_t divisor, Rounding rounding) {
  double result = has_only_minus_zeros_ ? -0.0 : 0.0;
  if (not_finite_ != 0) {
    result = not_finite_;
  } else if (first_ <= last_) {
    const bool is_negative = make_positive();
    if (has_digits_below(last_ + 1))
      result = round(leading_digits(static_cast<std::uint64_t>(divisor)), rounding);
    if (is_negative) result = -result;
  }
  clear();
  return result;
}

}  // namespace fanin
