#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace fanin {
namespace {

template <typename To, typename From>
To converted(From value) {
  To result{};
  convert(dtype_of<From>, reinterpret_cast<const std::byte*>(&value), dtype_of<To>,
          reinterpret_cast<std::byte*>(&result), 1);
  return result;
}

template <typename T>
std::vector<T> run(void (*call)(const std::byte*, std::byte*, std::size_t),
                   const std::vector<T>& values) {
  std::vector<T> results(values.size());
  call(reinterpret_cast<const std::byte*>(values.data()),
       reinterpret_cast<std::byte*>(results.data()), values.size());
  return results;
}

TEST(Convert, KeepsWhatFits) {
  EXPECT_EQ(converted<double>(1.5F), 1.5);
  EXPECT_EQ(converted<std::int64_t>(std::int8_t{-7}), -7);
  EXPECT_EQ(converted<float>(std::uint16_t{65535}), 65535.0F);
  EXPECT_EQ(static_cast<float>(converted<BFloat16>(Float16(1.5F))), 1.5F);
  EXPECT_EQ(converted<std::uint64_t>(~std::uint64_t{0}), ~std::uint64_t{0});
}

TEST(Convert, RoundsOnce) {
  // Just above a tie of the half: rounded to float32 first it would be the tie, and go down.
  EXPECT_EQ(converted<Float16>(1.0 + 0x1p-11 + 0x1p-40).bits, Float16(1.0F + 0x1p-10F).bits);
  EXPECT_EQ(converted<Float16>(1.0 + 0x1p-11).bits, Float16(1.0F).bits);
  EXPECT_EQ(converted<BFloat16>(-1.0 - 0x1p-8 - 0x1p-50).bits, BFloat16(-1.0F - 0x1p-7F).bits);
  const std::int64_t above_tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  EXPECT_EQ(converted<BFloat16>(above_tie).bits, BFloat16(0x1.02p62F).bits);
  EXPECT_EQ(converted<BFloat16>(above_tie - 1).bits, BFloat16(0x1p62F).bits);
  EXPECT_EQ(converted<BFloat16>(-above_tie).bits, BFloat16(-0x1.02p62F).bits);
  EXPECT_EQ(converted<Float16>(1e-8).bits, 0);
  EXPECT_EQ(converted<Float16>(1e300).bits, 0x7c00);
}

TEST(Convert, LimitsWhatIsTooLargeForAnInteger) {
  EXPECT_EQ(converted<std::int8_t>(1000.0F), 127);
  EXPECT_EQ(converted<std::int8_t>(-1000.0F), -128);
  EXPECT_EQ(converted<std::uint8_t>(-1.0F), 0);
  EXPECT_EQ(converted<std::int64_t>(1e30), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(converted<std::uint64_t>(1e30F), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(converted<std::int32_t>(std::nan("")), 0);
  EXPECT_EQ(converted<std::int32_t>(-2.75), -2);
}

TEST(Convert, WrapsIntegers) {
  EXPECT_EQ(converted<std::int8_t>(std::int32_t{300}), 44);
  EXPECT_EQ(converted<std::uint16_t>(std::int64_t{-1}), 65535);
}

TEST(Scale, MultipliesAndRoundsHalvesOnce) {
  const auto half = [](const std::byte* from, std::byte* to, std::size_t count) {
    scale(DType::kFloat16, from, to, 0.5, count);
  };
  const std::vector<Float16> results = run<Float16>(half, std::vector<Float16>(2500, Float16(3)));
  for (const Float16& result : results) ASSERT_EQ(static_cast<float>(result), 1.5F);

  const auto third = [](const std::byte* from, std::byte* to, std::size_t count) {
    scale(DType::kFloat64, from, to, 1.0 / 3, count);
  };
  EXPECT_EQ(run<double>(third, {6, 7}), (std::vector<double>{6 * (1.0 / 3), 7 * (1.0 / 3)}));
}

TEST(Divide, IsExactForIntegers) {
  const std::vector<std::int64_t> values = {(std::int64_t{1} << 53) + 1, -7};
  std::vector<double> results(2);
  divide(DType::kInt64, reinterpret_cast<const std::byte*>(values.data()),
         reinterpret_cast<std::byte*>(results.data()), 2, 2);
  EXPECT_EQ(results, (std::vector<double>{0x1p52 + 0.5, -3.5}));
}

TEST(Divide, DividesFloats) {
  const auto by_three = [](const std::byte* from, std::byte* to, std::size_t count) {
    divide(DType::kFloat32, from, to, 3, count);
  };
  EXPECT_EQ(run<float>(by_three, {1, 10}), (std::vector<float>{1.0F / 3, 10.0F / 3}));
}

}  // namespace
}  // namespace fanin
