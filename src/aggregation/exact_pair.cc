#include "aggregation/exact_pair.h"

#include <bit>
#include <cmath>
#include <limits>

namespace fanin {
namespace {

// From here on no remainder is lost below the smallest double.
constexpr double kLeast = 0x1p-900;

/// `high` is the double that is nearest to the number; of `low` only the sign matters.
double to_odd(const ExactPair& number) {
  const auto bits = std::bit_cast<std::uint64_t>(number.high);
  if (number.low == 0 || (bits & 1) != 0) return number.high;
  const bool is_outside = (number.low > 0) == (number.high > 0);
  return std::bit_cast<double>(is_outside ? bits + 1 : bits - 1);
}

/// What number - nearest * divisor is, exactly.
double remainder(double number, double nearest, double divisor) {
  return std::fma(-nearest, divisor, number);
}

std::optional<double> quotient_to_odd(const ExactPair& number, double divisor) {
  if (number.low != 0) return std::nullopt;
  const double nearest = number.high / divisor;
  return to_odd({nearest, remainder(number.high, nearest, divisor)});
}

/// The quotient is nearest + rest, and `rest` has an error below its 2^-51st part: if both ends of
/// that range round to one double, so does the quotient.
std::optional<double> quotient_to_nearest(const ExactPair& number, double divisor) {
  const double nearest = number.high / divisor;
  const double rest = (remainder(number.high, nearest, divisor) + number.low) / divisor;
  const double error = std::abs(rest) * 0x1p-50;
  const double below = nearest + (rest - error);
  if (below != nearest + (rest + error)) return std::nullopt;
  return below;
}

}  // namespace

std::optional<double> quotient(const ExactPair& number, std::int64_t divisor, Rounding rounding) {
  if (number.high == 0 && number.low == 0) return number.high;  // their sum would lose a sign
  const ExactPair sum = two_sum(number.high, number.low);
  const double nearest_or_odd = rounding == Rounding::kOdd ? to_odd(sum) : sum.high;
  if (divisor == 1 || sum.high == 0) return nearest_or_odd;

  const double magnitude = std::abs(sum.high);
  if (!(magnitude >= kLeast && magnitude <= std::numeric_limits<double>::max()))
    return std::nullopt;
  const auto double_divisor = static_cast<double>(divisor);
  if (std::has_single_bit(static_cast<std::uint64_t>(divisor)))
    return nearest_or_odd / double_divisor;
  return rounding == Rounding::kOdd ? quotient_to_odd(sum, double_divisor)
                                    : quotient_to_nearest(sum, double_divisor);
}

}  // namespace fanin
