#include "kernels/quotient.h"

#include <bit>
#include <cmath>

namespace fanin {
namespace {

/// A positive number: digits * 2^exponent. The highest bit of the digits is set; the lowest is set
/// too if anything was cut off, so that the next rounding goes the right way.
struct Digits {
  std::uint64_t digits;
  int exponent;
};

/// `dividend` is not 0.
Digits divide(UInt128 dividend, std::uint64_t divisor) {
  int exponent = 0;
  UInt128 quotient = dividend / divisor;
  auto remainder = static_cast<std::uint64_t>(dividend % divisor);
  bool cut = false;
  for (; quotient >> 64 != 0; ++exponent) {
    cut |= (quotient & 1) != 0;
    quotient >>= 1;
  }
  // The first turn fills digits below the point; the second is needed if it began with zeros.
  while (exponent <= 0 && (quotient >> 63 & 1) == 0) {
    const int shift = quotient == 0 ? 64 : std::countl_zero(static_cast<std::uint64_t>(quotient));
    const UInt128 more = static_cast<UInt128>(remainder) << shift;
    quotient = (quotient << shift) + more / divisor;
    remainder = static_cast<std::uint64_t>(more % divisor);
    exponent -= shift;
  }
  const bool inexact = cut || remainder != 0;
  return {static_cast<std::uint64_t>(quotient) | (inexact ? 1U : 0U), exponent};
}

template <typename Float>
Float exact_quotient(Int128 sum, std::int64_t divisor, std::int64_t exact_limit) {
  // Both are exact as floating-point numbers, so that the division alone rounds.
  if (-exact_limit <= sum && sum <= exact_limit && divisor <= exact_limit) [[likely]]
    return static_cast<Float>(static_cast<std::int64_t>(sum)) / static_cast<Float>(divisor);
  if (sum == 0) return 0;
  const UInt128 magnitude = sum < 0 ? -static_cast<UInt128>(sum) : static_cast<UInt128>(sum);
  const Digits result = divide(magnitude, static_cast<std::uint64_t>(divisor));
  const Float rounded = std::ldexp(static_cast<Float>(result.digits), result.exponent);
  return sum < 0 ? -rounded : rounded;
}

}  // namespace

float quotient_float32(Int128 sum, std::int64_t divisor) {
  return exact_quotient<float>(sum, divisor, std::int64_t{1} << 24);
}

double quotient_float64(Int128 sum, std::int64_t divisor) {
  return exact_quotient<double>(sum, divisor, std::int64_t{1} << 53);
}

}  // namespace fanin
