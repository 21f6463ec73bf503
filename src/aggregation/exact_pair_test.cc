#include "aggregation/exact_pair.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "aggregation/mpfr_sum.h"

namespace fanin {
namespace {

TEST(TwoSum, MissesNothing) {
  const auto [high, low] = two_sum(1, 0x1p-80);
  EXPECT_EQ(high, 1);
  EXPECT_EQ(low, 0x1p-80);
  const double most = std::numeric_limits<double>::max();
  EXPECT_FALSE(std::isfinite(two_sum(most, most).low));
  EXPECT_FALSE(std::isfinite(two_sum(HUGE_VAL, 1).low));
}

/// Neighbours in magnitude, as a sum leaves them.
ExactPair random_pair(std::mt19937_64& random) {
  const auto exponent = static_cast<int>(random() % 100) - 50;
  const double high = std::ldexp(static_cast<double>(random() >> 11), exponent);
  const double low = std::ldexp(static_cast<double>(random() >> (11 + random() % 53)),
                                exponent - static_cast<int>(random() % 54));
  return {random() % 2 == 0 ? high : -high, random() % 3 == 0 ? 0 : low};
}

TEST(Quotient, IsRoundedOnceOrNotGiven) {
  std::mt19937_64 random(1);
  int given = 0;
  constexpr int kTurns = 20'000;
  for (int turn = 0; turn < kTurns; ++turn) {
    const ExactPair number = random_pair(random);
    const double terms[] = {number.high, number.low};
    const auto divisor = static_cast<std::int64_t>(1 + random() % 20);
    const auto nearest = quotient(number, divisor, Rounding::kNearest);
    const auto odd = quotient(number, divisor, Rounding::kOdd);
    const double expected = mpfr_sum(DType::kFloat64, terms, divisor);
    ASSERT_EQ(nearest.value_or(expected), expected) << divisor;
    const double rounded = mpfr_sum(DType::kFloat32, terms, divisor);
    ASSERT_EQ(static_cast<float>(odd.value_or(rounded)), rounded) << divisor;
    given += (nearest ? 1 : 0) + (odd ? 1 : 0);
  }
  EXPECT_GT(given, kTurns) << "the quick way is hardly ever one";
}

TEST(Quotient, KnowsTies) {
  // A third of each is next to the tie 1 + 2^-53, or the tie itself.
  for (const double off : {-0x1p-104, -0x1p-105, 0.0, 0x1p-106, 0x1p-105, 0x1p-104}) {
    const ExactPair number{3 + 0x1p-51, -0x1p-53 + off};
    const double expected = mpfr_sum(DType::kFloat64, std::vector{number.high, number.low}, 3);
    EXPECT_EQ(quotient(number, 3, Rounding::kNearest).value_or(expected), expected) << off;
  }
  EXPECT_EQ(quotient({1, 0x1p-24 + 0x1p-60}, 1, Rounding::kOdd), 1 + 0x1p-24 + 0x1p-52);
  EXPECT_EQ(quotient({1 + 0x1p-24, -0x1p-60}, 1, Rounding::kOdd), 1 + 0x1p-24 - 0x1p-52);
}

TEST(Quotient, LeavesWhatIsTooSmallToOthers) {
  EXPECT_EQ(quotient({0x1p-1074, 0}, 3, Rounding::kNearest), std::nullopt);
  EXPECT_EQ(quotient({HUGE_VAL, 0}, 3, Rounding::kNearest), std::nullopt);
  const auto zero = quotient({-0.0, 0}, 3, Rounding::kNearest);
  EXPECT_TRUE(zero.has_value() && std::signbit(*zero));
  EXPECT_EQ(quotient({0x1p-1074, 0}, 1, Rounding::kNearest), 0x1p-1074);
}

}  // namespace
}  // namespace fanin
