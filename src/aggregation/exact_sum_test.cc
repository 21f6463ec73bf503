#include "aggregation/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "aggregation/hard_terms.h"
#include "aggregation/mpfr_sum.h"
#include "aggregation/test_terms.h"
#include "core/count_allocations.h"
#include "fanin/add_n.h"

namespace fanin {
namespace {

bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Compares sum and mean with MPFR, element by element.
template <typename T>
void expect_exact(const std::vector<std::vector<T>>& terms, const std::string& what) {
  const auto tensors = views(terms);
  for (const bool mean : {false, true}) {
    const SumOptions options{.accumulation = Accumulation::kExact, .mean = mean};
    const auto got = add_n(tensors, options).template to_vector<T>();
    const std::int64_t divisor = mean ? static_cast<std::int64_t>(terms.size()) : 1;
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::vector<double> column;
      for (const auto& term : terms) column.push_back(to_double(term[i]));
      const double expected = mpfr_sum(dtype_of<T>, column, divisor);
      ASSERT_TRUE(is_same(to_double(got[i]), expected))
          << what << ", " << terms.size() << " terms, " << (mean ? "mean" : "sum") << ", element "
          << i << ": got " << to_double(got[i]) << ", expected " << expected;
    }
  }
}

template <typename T>
class ExactSum : public testing::Test {};
using FloatTypes = testing::Types<Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(ExactSum, FloatTypes);

TYPED_TEST(ExactSum, IsThatOfMpfr) {
  Random random(11);
  for (const Data data : kData)
    for (const std::size_t term_count : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U, 25U, 64U, 100U})
      ASSERT_NO_FATAL_FAILURE(expect_exact(make_terms<TypeParam>(data, term_count, 150, random),
                                           "data " + std::to_string(static_cast<int>(data))));
}

TYPED_TEST(ExactSum, DoesNotDependOnOrderThreadsOrBlocks) {
  Random random(5);
  constexpr std::size_t kElements = 20'001;
  for (const Data data : {Data::kAnyFinite, Data::kNearOne}) {
    auto terms = make_terms<TypeParam>(data, 7, kElements, random);
    const auto sum = [&](Context* context) {
      const SumOptions options{
          .accumulation = Accumulation::kExact, .mean = true, .context = context};
      return add_n(views(terms), options);
    };
    Context one({.thread_count = 1});
    const auto expected = sum(&one);
    for (const int threads : {2, 5}) {
      Context context({.thread_count = threads});
      std::ranges::shuffle(terms, random);
      EXPECT_TRUE(std::ranges::equal(sum(&context).bytes(), expected.bytes())) << threads;
    }
  }
}

TYPED_TEST(ExactSum, MayWriteIntoATerm) {
  Random random(6);
  auto terms = make_terms<TypeParam>(Data::kAnyFinite, 5, 1000, random);
  const SumOptions options{.accumulation = Accumulation::kExact};
  const Tensor expected = add_n(views(terms), options);
  const auto tensors = views(terms);
  add_n(tensors, TensorView::over<TypeParam>(terms[3], {1000}), options);
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(terms[3])), expected.bytes()));
}

TYPED_TEST(ExactSum, AllocatesNothing) {
  Random random(7);
  const auto terms = make_terms<TypeParam>(Data::kAnyFinite, 9, 5000, random);
  const auto tensors = views(terms);
  std::vector<TypeParam> out(5000);
  const auto view = TensorView::over<TypeParam>(out, {5000});
  const SumOptions options{.accumulation = Accumulation::kExact, .mean = true};
  add_n(tensors, view, options);  // starts threads
  const auto before = allocation_count();
  add_n(tensors, view, options);
  EXPECT_EQ(allocation_count(), before);
}

TYPED_TEST(ExactSum, KeepsMinusZeroOnly) {
  const auto sum = [](const std::vector<double>& numbers) {
    std::vector<std::vector<TypeParam>> terms;
    for (const double number : numbers) terms.push_back({converted<TypeParam>(number)});
    const auto total = add_n(views(terms), {.accumulation = Accumulation::kExact});
    return to_double(total.template to_vector<TypeParam>()[0]);
  };
  EXPECT_TRUE(std::signbit(sum({-0.0})));
  EXPECT_TRUE(std::signbit(sum({-0.0, -0.0, -0.0})));
  EXPECT_FALSE(std::signbit(sum({-0.0, 0.0})));
  EXPECT_FALSE(std::signbit(sum({-1.5, 1.5})));
  EXPECT_FALSE(std::signbit(sum({-0.0, -1.5, 1.5})));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum({1, -infinity, 2}), -infinity);
  EXPECT_TRUE(std::isnan(sum({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum({infinity, std::nan("")})));
}

template <typename T>
T exact_sum_of(const std::vector<T>& column, bool mean = false) {
  std::vector<std::vector<T>> terms;
  for (const T term : column) terms.push_back({term});
  const SumOptions options{.accumulation = Accumulation::kExact, .mean = mean};
  return add_n(views(terms), options).template to_vector<T>()[0];
}

TEST(ExactSumOfDoubles, OverflowsOnlyAtTheEnd) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(exact_sum_of<double>({most, most, -most}), most);
  EXPECT_EQ(exact_sum_of<double>({most, most}), HUGE_VAL);
  EXPECT_EQ(exact_sum_of<double>({-most, -most, -most}), -HUGE_VAL);
  EXPECT_EQ(exact_sum_of<double>({most, most, most}, true), most);
  EXPECT_EQ(exact_sum_of<double>({most, 0x1p969}), most) << "below one half of the last place";
  EXPECT_EQ(exact_sum_of<double>({most, 0x1p970}), HUGE_VAL)
      << "one half, and the last place is odd";
}

TEST(ExactSumOfFloats, RoundsOnce) {
  // As a double this would be 1 + 2^-24, a tie, which rounds to 1.
  EXPECT_EQ(exact_sum_of<float>({1, 0x1p-24F, 0x1p-80F}), 1 + 0x1p-23F);
  EXPECT_EQ(exact_sum_of<float>({1, 0x1p-24F, -0x1p-80F}), 1.0F);
  // As a float this would be 1 + 2^-11, a tie of float16.
  const auto half = [](float value) { return Float16(value); };
  EXPECT_EQ(static_cast<float>(exact_sum_of<Float16>({half(1), half(0x1p-11F), half(0x1p-24F)})),
            1 + 0x1p-10F);
}

TEST(ExactSumOfIntegers, IsTheWideOne) {
  const std::vector<std::vector<std::int8_t>> terms = {{100, -1}, {100, -2}, {-1, 5}};
  for (const bool mean : {false, true})
    EXPECT_TRUE(std::ranges::equal(
        add_n(views(terms), {.accumulation = Accumulation::kExact, .mean = mean}).bytes(),
        add_n(views(terms), {.mean = mean}).bytes()));
}

TEST(ExactSumOfManyElements, IsThatOfMpfr) {
  Random random(9);
  expect_exact(make_terms<double>(Data::kAnyFinite, 3, 1500, random), "doubles");
  expect_exact(make_terms<float>(Data::kNearOne, 12, 1500, random), "floats, by threads");
}

TEST(ExactSumOfManyTerms, IsThatOfMpfr) {
  Random random(8);
  expect_exact(make_terms<float>(Data::kNearOne, 5000, 3, random), "floats");
  expect_exact(make_terms<Float16>(Data::kAnyFinite, 20'000, 3, random), "halves");
  expect_exact(make_terms<double>(Data::kCancelling, 5000, 3, random), "doubles");
}

}  // namespace
}  // namespace fanin
