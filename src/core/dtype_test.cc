#include "fanin/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/expect_error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fanin {
namespace {

TEST(DType, HasANameASizeAndAWayBack) {
  const std::array<std::size_t, kDTypeCount> sizes = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    EXPECT_EQ(size_of(dtype), sizes[static_cast<std::size_t>(number)]);
    EXPECT_EQ(is_floating(dtype), name(dtype).find("float") != std::string_view::npos);
  }
  EXPECT_EQ(name(DType::kBFloat16), "bfloat16");
}

TEST(DType, RefusesOthers) {
  for (const char* text : {"", "float", "Float32", "float32 ", "int128", "f4"})
    expect_error(ErrorKind::kBadOption,
                 testing::HasSubstr("is not a dtype; use one of float16, bfloat16, float32, "
                                    "float64, int8, int16, int32, int64, uint8, uint16, uint32, "
                                    "uint64"),
                 [&] { parse_dtype(text); });
  expect_error(ErrorKind::kBadOption, "77 is not the number of a dtype",
               [] { size_of(DType{77}); });
  expect_error(ErrorKind::kBadOption, "12 is not the number of a dtype", [] { name(DType{12}); });
}

/// The value of a small float by its definition.
double slow_value(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/// The nearest small float by search among all of one sign; ties go to the even one.
class SlowRounding {
 public:
  SlowRounding(int exponent_bits, int fraction_bits) {
    const int infinity = ((1 << exponent_bits) - 1) << fraction_bits;
    for (int bits = 0; bits < infinity; ++bits)
      values_.push_back(slow_value(static_cast<std::uint16_t>(bits), exponent_bits, fraction_bits));
    // What would follow the largest one stands for infinity.
    values_.push_back(std::ldexp(1.0, 1 << (exponent_bits - 1)));
  }

  std::uint16_t operator()(float value) const {
    const double magnitude = std::fabs(static_cast<double>(value));
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const auto above = std::ranges::lower_bound(values_, magnitude);
    auto index = static_cast<std::size_t>(above - values_.begin());
    if (above == values_.end()) {
      index = values_.size() - 1;
    } else if (index > 0) {
      const double below = values_[index - 1];
      const double to_below = magnitude - below;
      const double to_above = *above - magnitude;
      if (to_below < to_above || (to_below == to_above && (index - 1) % 2 == 0)) --index;
    }
    return static_cast<std::uint16_t>(sign | index);
  }

 private:
  std::vector<double> values_;
};

/// Around every small float: itself, the middle to the next, and the floats beside those.
template <typename Half>
std::vector<float> telling_floats() {
  std::vector<float> floats;
  const auto add_around = [&](float value) {
    floats.push_back(value);
    floats.push_back(std::nextafter(value, std::numeric_limits<float>::infinity()));
    floats.push_back(std::nextafter(value, -std::numeric_limits<float>::infinity()));
  };
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto value = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits)));
    const auto next = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits + 1)));
    if (!std::isfinite(value)) continue;
    add_around(value);
    if (std::isfinite(next)) add_around(value + (next - value) / 2);
  }
  for (const float edge :
       {65519.0F, 65520.0F, 65535.0F, 65536.0F, 1e30F, 0x1p-25F, 0x1p-26F,
        std::numeric_limits<float>::max(), 0x1.feffffp127F, 0x1.ffp127F,
        std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::infinity()}) {
    floats.push_back(edge);
    floats.push_back(-edge);
  }
  std::mt19937 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) floats.push_back(value);
  }
  return floats;
}

template <typename Half>
void expect_right_conversions(int exponent_bits, int fraction_bits) {
  for (std::uint32_t number = 0; number < 0x10000; ++number) {
    const auto bits = static_cast<std::uint16_t>(number);
    const double expected = slow_value(bits, exponent_bits, fraction_bits);
    const auto value = static_cast<float>(Half::from_bits(bits));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Half(value)))) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), expected) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
      ASSERT_EQ(Half(value).bits, bits);  // there and back
    }
  }
  const SlowRounding slow(exponent_bits, fraction_bits);
  for (const float value : telling_floats<Half>())
    ASSERT_EQ(Half(value).bits, slow(value)) << value;
}

TEST(Float16, ConvertsAsItsDefinitionSays) { expect_right_conversions<Float16>(5, 10); }

TEST(BFloat16, ConvertsAsItsDefinitionSays) { expect_right_conversions<BFloat16>(8, 7); }

TEST(Float16, KeepsTheUpperPayloadOfANanAndMakesItQuiet) {
  EXPECT_EQ(Float16(std::bit_cast<float>(0x7f802001U)).bits, 0x7e01);
  EXPECT_EQ(Float16(std::bit_cast<float>(0xff800001U)).bits, 0xfe00);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x7f800001U)).bits, 0x7fc0);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0xffffffffU)).bits, 0xffff);
}

#if defined(__x86_64__)
TEST(Float16, DoesNotDependOnHowTheThreadTreatsSubnormals) {
  const unsigned before = _mm_getcsr();
  const auto convert_all = [] {
    std::vector<std::uint32_t> bits;
    for (std::uint32_t number = 0; number < 0x10000; ++number) {
      const auto value = static_cast<float>(Float16::from_bits(static_cast<std::uint16_t>(number)));
      bits.push_back(std::bit_cast<std::uint32_t>(value));
      bits.push_back(Float16(value).bits);
    }
    return bits;
  };
  const auto expected = convert_all();
  _mm_setcsr(before | 0x8040U);  // flush to zero, and denormals are zero
  const auto flushed = convert_all();
  _mm_setcsr(before);
  EXPECT_EQ(flushed, expected);
}
#endif

#if defined(__FLT16_MAX__) && defined(__SSE2__) && !defined(__clang__)
TEST(Float16, AgreesWithTheCompiler) {
  __extension__ using CompilerHalf = _Float16;
  for (const float value : telling_floats<Float16>())
    ASSERT_EQ(Float16(value).bits, std::bit_cast<std::uint16_t>(static_cast<CompilerHalf>(value)))
        << value;
}
#endif

}  // namespace
}  // namespace fanin
