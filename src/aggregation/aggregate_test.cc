#include "fanin/aggregate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "aggregation/test_terms.h"
#include "aggregation/tree_reference.h"
#include "core/expect_error.h"
#include "core/sanitized.h"

namespace fanin {
namespace {

using Method = AggregationMethod;
using Terms = std::vector<std::optional<Value>>;

constexpr Method kMethods[] = {Method::kAddN, Method::kExperimentalTree,
                               Method::kExperimentalAccumulateN, Method::kAuto};

template <typename T>
class Aggregate : public testing::Test {};
using Types = testing::Types<float, double, Float16, BFloat16, std::int8_t, std::int64_t>;
TYPED_TEST_SUITE(Aggregate, Types);

TYPED_TEST(Aggregate, AddsInTheOrderOfItsMethod) {
  using T = TypeParam;
  Context two({.thread_count = 2});
  for (const std::size_t term_count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100})
    for (const std::size_t element_count : {0, 1, 63, 1024, 1025, 30'001}) {
      if (term_count * element_count > (kIsSanitized ? 150'000 : 300'000)) continue;
      const auto terms = random_terms<T>(term_count, element_count, 1);
      const auto values = to_values(terms);
      for (const auto accumulation : {Accumulation::kWide, Accumulation::kNative}) {
        const bool rounds = accumulation == Accumulation::kNative;
        const SumOptions options{.accumulation = accumulation, .context = &two};
        const auto sum = [&](Method method) { return *aggregate(values, method, options); };
        const auto in_order = slow_sum(terms, rounds);
        EXPECT_TRUE(same_bits(sum(Method::kAddN), in_order)) << term_count;
        EXPECT_TRUE(same_bits(sum(Method::kAuto), in_order)) << term_count;
        EXPECT_TRUE(same_bits(sum(Method::kExperimentalTree), slow_tree(terms, rounds)))
            << term_count << " x " << element_count;
        EXPECT_TRUE(
            same_bits(sum(Method::kExperimentalAccumulateN), slow_accumulate(terms, rounds)))
            << term_count << " x " << element_count;
      }
    }
}

TEST(AggregateList, ChecksTheMethodForEmptyInputToo) {
  for (const int number : {-1, 4, 100})
    for (const Terms& terms : {Terms{}, Terms{std::nullopt}, Terms{to_tensor<float>({1})}})
      expect_error(ErrorKind::kBadMethod, testing::HasSubstr(std::to_string(number)),
                   [&] { aggregate(terms, static_cast<Method>(number)); });
}

TEST(AggregateList, DropsMissingTerms) {
  for (const Method method : kMethods) {
    EXPECT_EQ(aggregate({}, method), std::nullopt);
    EXPECT_EQ(aggregate(Terms{std::nullopt, std::nullopt}, method), std::nullopt);
    const auto sum = aggregate(
        Terms{std::nullopt, to_tensor<float>({1, 2}), std::nullopt, to_tensor<float>({3, 4})},
        method, {.mean = true});
    EXPECT_TRUE(same_bits<float>(*sum, {2, 3}));
  }
}

TEST(AggregateList, KeepsMinusZero) {
  for (const Method method : kMethods) {
    const auto sum = aggregate(Terms{to_tensor<float>({-0.0F}), to_tensor<float>({-0.0F})}, method);
    EXPECT_TRUE(std::signbit(std::get<Tensor>(*sum).to_vector<float>()[0]));
  }
}

TEST(AggregateList, IsExactInEveryMethod) {
  const SumOptions exact{.accumulation = Accumulation::kExact};
  for (const Method method : kMethods) {
    const auto sum = aggregate(Terms{to_tensor<float>({1e30F, -0.0F}), to_tensor<float>({1, -0.0F}),
                                     to_tensor<float>({-1e30F, -0.0F})},
                               method, exact);
    EXPECT_TRUE(same_bits<float>(*sum, {1, -0.0F}));
    const auto scalar = aggregate(Terms{Tensor::of<float>({2}, {}), std::nullopt}, method, exact);
    EXPECT_TRUE(same_bits<float>(*scalar, {2}));
  }
  const std::vector<Tensor> terms = {to_tensor<double>({1e300}), to_tensor<double>({1}),
                                     to_tensor<double>({-1e300})};
  EXPECT_EQ(accumulate_n(terms, exact).to_vector<double>()[0], 1);
}

TEST(AggregateList, NamesTermsThatDoNotFit) {
  for (const Method method : kMethods) {
    expect_error(
        ErrorKind::kDtypeMismatch,
        "term 1 is float32 but term 2 is float64; the terms of a sum have one dtype", [&] {
          aggregate(Terms{std::nullopt, to_tensor<float>({1}), to_tensor<double>({1})}, method);
        });
    expect_error(ErrorKind::kShapeMismatch,
                 "term 0 has shape [1] but term 1 has shape [2]; the terms of a sum have one shape",
                 [&] {
                   aggregate(Terms{to_tensor<float>({1}), to_tensor<float>({1, 2})}, method);
                 });
  }
}

TEST(AggregateList, OfSparseTermsStaysSparseInOrder) {
  for (const Method method : kMethods) {
    const auto sum =
        std::get<IndexedSlices>(*aggregate(Terms{slices({1, 2}, {4}), slices({3, 4, 5, 6}, {0, 4}),
                                                 slices({}, {}), slices({7, 8}, {1})},
                                           method));
    EXPECT_EQ(sum.values.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(sum.indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{4, 0, 4, 1}));
    EXPECT_EQ(sum.dense_shape, Shape({5, 2}));
  }
}

TEST(AggregateList, OfMixedTermsIsDense) {
  const Tensor dense = Tensor::of<float>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {5, 2});
  for (const Method method : kMethods)
    for (const bool mean : {false, true}) {
      const auto sum = aggregate(
          Terms{slices({1, 2}, {4}), slices({3, 4, 5, 6}, {0, 0}), dense, slices({7, 8}, {1}, {})},
          method, {.mean = mean});
      std::vector<float> wanted = {9, 11, 8, 9, 1, 1, 1, 1, 2, 3};
      for (float& element : wanted) element /= mean ? 4 : 1;
      EXPECT_EQ(std::get<Tensor>(*sum).to_vector<float>(), wanted);
    }
}

TEST(AccumulateN, IsTheSumFromLeftToRight) {
  const auto terms = random_terms<float>(20, 5000, 3);
  std::vector<Tensor> tensors;
  for (const auto& term : terms) tensors.push_back(to_tensor(term));
  EXPECT_TRUE(same_bits(Value(accumulate_n(tensors)), slow_accumulate(terms)));
  expect_error(ErrorKind::kEmpty, "accumulate_n needs at least one term, got none",
               [] { accumulate_n({}); });
}

}  // namespace
}  // namespace fanin
