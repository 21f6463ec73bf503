#include "aggregation/superaccumulator.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "aggregation/mpfr_sum.h"

namespace fanin {
namespace {

double sum_of(Superaccumulator& accumulator, const std::vector<double>& terms,
              std::int64_t divisor = 1, Rounding rounding = Rounding::kNearest) {
  for (const double term : terms) accumulator.add(term);
  return accumulator.finish(divisor, rounding);
}

double sum_of(const std::vector<double>& terms) {
  Superaccumulator accumulator;
  return sum_of(accumulator, terms);
}

constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

std::vector<double> random_terms(std::mt19937_64& random, std::size_t count, int exponents) {
  std::vector<double> terms;
  for (std::size_t i = 0; i < count; ++i) {
    const auto exponent = static_cast<std::uint64_t>(random() % static_cast<unsigned>(exponents));
    terms.push_back(std::bit_cast<double>((random() & 0x800f'ffff'ffff'ffffU) | exponent << 52));
  }
  return terms;
}

TEST(Superaccumulator, IsExact) {
  EXPECT_EQ(sum_of({kMost, kLeast, -kMost}), kLeast);
  EXPECT_EQ(sum_of({kMost, kMost, kMost, -kMost, -kMost}), kMost);
  EXPECT_EQ(sum_of({-1, 0x1p-53}), -1 + 0x1p-53);
  EXPECT_EQ(sum_of({0.1, 0.2, -0.3}), 0x1p-55);
  EXPECT_EQ(sum_of({kMost, kMost}), HUGE_VAL);
  EXPECT_TRUE(std::signbit(sum_of({-0.0, -0.0})));
  EXPECT_FALSE(std::signbit(sum_of({1, -1})));
  EXPECT_FALSE(std::signbit(sum_of({0.0, -0.0})));
}

TEST(Superaccumulator, IsEmptyAfterTheEnd) {
  std::mt19937_64 random(1);
  Superaccumulator accumulator;
  for (int turn = 0; turn < 1000; ++turn) {
    const auto terms = random_terms(random, 1 + random() % 5, 2047);
    EXPECT_EQ(sum_of(accumulator, terms), mpfr_sum(DType::kFloat64, terms)) << turn;
  }
  EXPECT_EQ(sum_of(accumulator, {HUGE_VAL}), HUGE_VAL);
  EXPECT_EQ(sum_of(accumulator, {2}), 2);
  EXPECT_TRUE(std::signbit(sum_of(accumulator, {-0.0})));
}

TEST(Superaccumulator, CarriesInTime) {
  std::mt19937_64 random(2);
  for (const std::int64_t terms_before_carry : {1, 2, 7}) {
    Superaccumulator accumulator(terms_before_carry);
    for (int turn = 0; turn < 200; ++turn) {
      auto terms = random_terms(random, 50, turn % 2 == 0 ? 2047 : 60);
      if (turn % 3 == 0)
        for (double& term : terms) term = -std::abs(term);
      const std::int64_t divisor = 1 + turn % 7;
      EXPECT_EQ(sum_of(accumulator, terms, divisor), mpfr_sum(DType::kFloat64, terms, divisor));
    }
    for (const double most : {kMost, -kMost}) {
      const std::vector<double> terms(100'000, most);
      EXPECT_EQ(sum_of(accumulator, terms, 100'000), most);
    }
  }
}

TEST(Superaccumulator, DividesByAnything) {
  std::mt19937_64 random(3);
  Superaccumulator accumulator;
  for (int turn = 0; turn < 2000; ++turn) {
    const auto terms = random_terms(random, 3, turn % 2 == 0 ? 100 : 2047);
    const auto divisor = static_cast<std::int64_t>(random() >> (1 + random() % 63)) | 1;
    EXPECT_EQ(sum_of(accumulator, terms, divisor), mpfr_sum(DType::kFloat64, terms, divisor))
        << "divisor " << divisor;
  }
}

TEST(Superaccumulator, SeesWhatIsNextToATie) {
  Superaccumulator accumulator;
  for (const std::int64_t divisor : {1, 3, 5, 7})
    for (int exponent = -53; exponent >= -200; --exponent)
      for (const double sign : {-1.0, 0.0, 1.0}) {
        const auto of_one = static_cast<double>(divisor);
        const std::vector<double> terms = {of_one, of_one * 0x1p-53,
                                           sign * std::ldexp(1, exponent)};
        EXPECT_EQ(sum_of(accumulator, terms, divisor), mpfr_sum(DType::kFloat64, terms, divisor))
            << "divisor " << divisor << ", exponent " << exponent << ", sign " << sign;
      }
}

TEST(Superaccumulator, RoundsToOddForTheNextRounding) {
  std::mt19937_64 random(4);
  Superaccumulator accumulator;
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<double> terms;
    for (int i = 0; i < 4; ++i)
      terms.push_back(std::ldexp(1, static_cast<int>(random() % 200) - 149));
    const auto divisor = static_cast<std::int64_t>(1 + random() % 9);
    const double odd = sum_of(accumulator, terms, divisor, Rounding::kOdd);
    EXPECT_EQ(static_cast<float>(odd), mpfr_sum(DType::kFloat32, terms, divisor));
  }
  EXPECT_EQ(sum_of(accumulator, {kLeast}, 1000, Rounding::kOdd), kLeast);
  EXPECT_EQ(sum_of(accumulator, {kLeast}, 2, Rounding::kNearest), 0);
  EXPECT_EQ(sum_of(accumulator, {3 * kLeast}, 2, Rounding::kNearest), 2 * kLeast);
}

}  // namespace
}  // namespace fanin
