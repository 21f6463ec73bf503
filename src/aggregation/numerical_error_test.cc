#include "fanin/numerical_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "aggregation/test_terms.h"
#include "core/expect_error.h"

namespace fanin {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
NumericalError error_of(std::vector<T> got, std::vector<T> wanted) {
  return measure_error(to_tensor(got), to_tensor(wanted));
}

TEST(NumericalError, CountsSteps) {
  const float next = std::nextafter(1.0F, 2.0F);
  const auto error = error_of<float>({1, next, std::nextafter(next, 2.0F), -1, 5},
                                     {1, 1, 1, -std::nextafter(next, 2.0F), 5});
  EXPECT_EQ(error.element_count, 5U);
  EXPECT_EQ(error.max_ulps, 2U);
  EXPECT_EQ(error.mean_ulps, 1.0);
  EXPECT_EQ(error.worst_element, 2U);
  EXPECT_NEAR(error.max_relative, 0x1p-22, 1e-12);
  EXPECT_EQ(error.histogram[0], 2U);
  EXPECT_EQ(error.histogram[1], 1U);
  EXPECT_EQ(error.histogram[2], 2U);
}

TEST(NumericalError, GoesThroughZeroAndKnowsOneZero) {
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(error_of<float>({-0.0F}, {0.0F}).max_ulps, 0U);
  EXPECT_EQ(error_of<float>({least}, {-least}).max_ulps, 2U);
  EXPECT_EQ(error_of<float>({least}, {0}).max_ulps, 1U);
  EXPECT_EQ(error_of<float>({least}, {0}).max_relative, kInfinity);
}

TEST(NumericalError, KnowsWhatIsNoNumber) {
  EXPECT_EQ(error_of<float>({kNan}, {kNan}).max_ulps, 0U);
  EXPECT_EQ(error_of<float>({kInfinity}, {kInfinity}).max_ulps, 0U);
  EXPECT_EQ(error_of<float>({kNan}, {1}).max_ulps, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(error_of<float>({kNan}, {1}).histogram[64], 1U);
  EXPECT_EQ(error_of<float>({kInfinity}, {std::numeric_limits<float>::max()}).max_ulps, 1U);
}

TEST(NumericalError, TakesEveryKindOfType) {
  EXPECT_EQ(error_of<double>({1}, {std::nextafter(1.0, 0.0)}).max_ulps, 1U);
  EXPECT_EQ(error_of<Float16>({Float16(2050.0F)}, {Float16(2048.0F)}).max_ulps, 1U);
  EXPECT_EQ(error_of<BFloat16>({BFloat16(-258.0F)}, {BFloat16(-256.0F)}).max_ulps, 1U);
  EXPECT_EQ(error_of<std::int8_t>({-128}, {127}).max_ulps, 255U);
  EXPECT_EQ(error_of<std::uint64_t>({~0ULL}, {0}).max_ulps, ~0ULL);
  EXPECT_EQ(error_of<float>({}, {}).element_count, 0U);
}

TEST(NumericalError, TakesAnyAlignment) {
  const std::vector<std::byte> bytes(9, std::byte{1});
  const auto at = [&](std::size_t offset) {
    return Tensor::view(std::span(bytes).subspan(offset, 8), DType::kFloat32, {2});
  };
  EXPECT_EQ(measure_error(at(0), at(1)).max_ulps, 0U);
}

TEST(NumericalError, MergesParts) {
  const auto first = error_of<float>({1, 1}, {1, 1});
  const auto second = error_of<float>({std::nextafter(1.0F, 2.0F)}, {1});
  const auto both = merge(first, second);
  EXPECT_EQ(both.element_count, 3U);
  EXPECT_EQ(both.max_ulps, 1U);
  EXPECT_DOUBLE_EQ(both.mean_ulps, 1.0 / 3);
  EXPECT_EQ(both.histogram[0], 2U);
}

TEST(NumericalError, TellsTheErrorOfMostElements) {
  NumericalError error{.element_count = 100};
  error.histogram[0] = 50;
  error.histogram[2] = 49;
  error.histogram[64] = 1;
  EXPECT_EQ(ulps_within(error, 0.5), 0U);
  EXPECT_EQ(ulps_within(error, 0.51), 3U);
  EXPECT_EQ(ulps_within(error, 0.99), 3U);
  EXPECT_EQ(ulps_within(error, 1.0), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(ulps_within({}, 0.99), 0U);
}

TEST(NumericalError, RefusesWhatIsNotAlike) {
  expect_error(ErrorKind::kDtypeMismatch,
               "float32 cannot be compared with float64; errors are measured in steps of one dtype",
               [] { measure_error(to_tensor<float>({1}), to_tensor<double>({1})); });
  expect_error(ErrorKind::kShapeMismatch, "shape [1] cannot be compared with shape [2]", [] {
    measure_error(to_tensor<float>({1}), to_tensor<float>({1, 2}));
  });
}

}  // namespace
}  // namespace fanin
