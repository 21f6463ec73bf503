#include "fanin/add_n.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "aggregation/slow_sum.h"
#include "aggregation/test_terms.h"
#include "core/count_allocations.h"
#include "core/expect_error.h"

namespace fanin {
namespace {

template <typename T>
std::vector<std::vector<T>> random_terms(std::size_t term_count, std::size_t element_count) {
  std::mt19937_64 random(term_count * 1000 + element_count);
  std::normal_distribution<float> normal(0, 100);
  std::vector<std::vector<T>> terms(term_count, std::vector<T>(element_count));
  for (auto& term : terms)
    for (T& element : term) {
      if constexpr (std::is_integral_v<T>)
        element = static_cast<T>(random());
      else
        element = T(normal(random));
    }
  return terms;
}

template <typename T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& expected,
                      const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  const auto got_bytes = std::as_bytes(std::span(got));
  const auto where = std::ranges::mismatch(got_bytes, std::as_bytes(std::span(expected))).in1;
  const auto same_bytes = static_cast<std::size_t>(where - got_bytes.begin());
  ASSERT_EQ(same_bytes, got_bytes.size()) << what << ", element " << same_bytes / sizeof(T);
}

template <typename T>
class AddN : public testing::Test {};

using AllTypes =
    testing::Types<Float16, BFloat16, float, double, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(AddN, AllTypes);

TYPED_TEST(AddN, GivesTheBitsOfTheDefinition) {
  for (std::size_t n = 1; n <= 70; n += n < 27 ? 1 : 7) {
    for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{77}}) {
      const auto terms = random_terms<TypeParam>(n, elements);
      const auto what = std::to_string(n) + " terms of " + std::to_string(elements);
      expect_same_bits(add_n(views(terms)).template to_vector<TypeParam>(), slow_sum(terms), what);
      expect_same_bits(add_n(views(terms), {.accumulation = Accumulation::kNative})
                           .template to_vector<TypeParam>(),
                       slow_sum(terms, true), what + ", native");
    }
  }
}

TYPED_TEST(AddN, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto terms = random_terms<TypeParam>(11, 300'001);
  const auto expected = slow_sum(terms);
  for (const int threads : {1, 2, 5}) {
    Context context({.thread_count = threads});
    expect_same_bits(add_n(views(terms), {.context = &context}).template to_vector<TypeParam>(),
                     expected, std::to_string(threads) + " threads");
  }
}

TYPED_TEST(AddN, MayWriteIntoATerm) {
  const auto terms = random_terms<TypeParam>(10, 1000);
  for (const std::size_t target : {0U, 1U, 5U, 9U}) {
    auto inputs = terms;
    const auto tensors = views(inputs);
    add_n(tensors, TensorView::over<TypeParam>(inputs[target], {1000}));
    expect_same_bits(inputs[target], slow_sum(terms), "into term " + std::to_string(target));
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (i != target) expect_same_bits(inputs[i], terms[i], "another term was changed");
  }
}

TYPED_TEST(AddN, MayWriteOverPartsOfTerms) {
  for (const int shift : {-64, -3, -1, 1, 2, 100}) {
    auto memory = random_terms<TypeParam>(1, 1200)[0];
    const auto other = random_terms<TypeParam>(1, 900)[0];
    const std::span<TypeParam> term(memory.data() + 100, 900);
    const std::vector<std::vector<TypeParam>> terms = {{term.begin(), term.end()}, other};
    const std::vector<Tensor> tensors = {Tensor::view<TypeParam>(term, {900}),
                                         Tensor::view<TypeParam>(other, {900})};
    const std::span<TypeParam> out(memory.data() + 100 + shift, 900);
    add_n(tensors, TensorView::over<TypeParam>(out, {900}));
    expect_same_bits(std::vector<TypeParam>(out.begin(), out.end()), slow_sum(terms),
                     "shift " + std::to_string(shift));
  }
}

TYPED_TEST(AddN, DividesForTheMean) {
  std::vector<std::vector<TypeParam>> terms;
  for (const float i : {0.0F, 1.0F, 2.0F})
    terms.push_back({TypeParam(i), TypeParam(100), TypeParam(2 * i)});
  const Tensor mean = add_n(views(terms), {.mean = true});
  const std::vector<double> expected = {1, 100, 2};
  if constexpr (!std::is_integral_v<TypeParam>) {
    ASSERT_EQ(mean.dtype(), dtype_of<TypeParam>);
    const auto got = mean.template to_vector<TypeParam>();
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(static_cast<double>(widen(got[i])), expected[i]);
  } else if constexpr (sizeof(TypeParam) <= 2) {
    EXPECT_EQ(mean.to_vector<float>(), (std::vector<float>{1, 100, 2}));
  } else {
    EXPECT_EQ(mean.to_vector<double>(), expected);
  }
}

TEST(AddNMean, RoundsOnce) {
  const auto large = Tensor::of({Float16(60000), Float16(1)}, {2});
  const std::vector<Tensor> halves = {large, large};
  EXPECT_EQ(static_cast<float>(add_n(halves, {.mean = true}).to_vector<Float16>()[0]), 60000.0F);
  const std::vector<Tensor> one = {Tensor::of<std::int32_t>({7}, {1})};
  EXPECT_EQ(add_n(one, {.mean = true}).to_vector<double>(), std::vector<double>{7});
  const auto most = Tensor::of<std::int64_t>({std::numeric_limits<std::int64_t>::max()}, {1});
  const std::vector<Tensor> wide(3, most);
  EXPECT_EQ(add_n(wide, {.mean = true}).to_vector<double>(), std::vector<double>{0x1p63});
}

TEST(AddNMean, OfWiderElementsMayOverlapItsTerm) {
  std::vector<std::byte> memory(400);
  std::memset(memory.data(), 3, 100);
  const std::vector<Tensor> terms = {
      Tensor::view(std::span<const std::byte>(memory).first(100), DType::kInt8, {100})};
  add_n(terms, TensorView{memory, DType::kFloat32, {100}}, {.mean = true});
  std::vector<float> got(100);
  std::memcpy(got.data(), memory.data(), 400);
  EXPECT_EQ(got, std::vector<float>(100, 3.0F));
}

TEST(AddNInto, AllocatesNothing) {
  Context context;
  for (const std::size_t n : {1U, 2U, 9U, 10U, 33U, 64U}) {
    const auto terms = random_terms<float>(n, 50'000);
    const auto tensors = views(terms);
    std::vector<float> out(50'000);
    const auto view = TensorView::over<float>(out, {50'000});
    add_n(tensors, view, {.context = &context});  // starts threads
    const auto before = allocation_count();
    for (int i = 0; i < 10; ++i) add_n(tensors, view, {.context = &context});
    EXPECT_EQ(allocation_count(), before) << n << " terms";
    expect_same_bits(out, slow_sum(terms), std::to_string(n));
  }
  EXPECT_EQ(context.memory().peak_bytes, 0U);
  EXPECT_EQ(context.memory().allocation_count, 0U);
}

TEST(AddNInto, AllocatesOnlyOnceForManyTerms) {
  const auto terms = random_terms<float>(1000, 10);
  const auto tensors = views(terms);
  std::vector<float> out(10);
  const auto view = TensorView::over<float>(out, {10});
  add_n(tensors, view);
  const auto before = allocation_count();
  add_n(tensors, view);
  EXPECT_EQ(allocation_count(), before);
  expect_same_bits(out, slow_sum(terms), "1000 terms");
}

TEST(AddNMemory, IsOneBufferForTheSum) {
  Context context;
  const auto terms = random_terms<double>(20, 1000);
  {
    const Tensor sum = add_n(views(terms), {.context = &context});
    EXPECT_EQ(context.memory().now_bytes, 8000U);
    EXPECT_EQ(context.memory().peak_bytes, 8000U);
  }
  EXPECT_EQ(context.memory().now_bytes, 0U);
}

TEST(AddNErrors, NameBoth) {
  const auto f32 = Tensor::of<float>({1, 2}, {2});
  const std::vector<Tensor> dtypes = {f32, f32, Tensor::of<double>({1, 2}, {2})};
  expect_error(ErrorKind::kDtypeMismatch,
               "term 0 is float32 but term 2 is float64; the terms of a sum have one dtype",
               [&] { add_n(dtypes); });
  const std::vector<Tensor> shapes = {f32, f32.reshaped({2, 1})};
  expect_error(ErrorKind::kShapeMismatch,
               "term 0 has shape [2] but term 1 has shape [2,1]; the terms of a sum have one shape",
               [&] { add_n(shapes); });
  expect_error(ErrorKind::kEmpty, "add_n needs at least one term, got none",
               [] { add_n(std::span<const Tensor>()); });
  const std::vector<Tensor> good = {f32};
  expect_error(ErrorKind::kBadOption,
               "accumulation 5 is not known; use wide (0), native (1) or exact (2)",
               [&] { add_n(good, {.accumulation = Accumulation{5}}); });
}

TEST(AddNErrors, OfTheOutputComeBeforeAnyWrite) {
  const std::vector<Tensor> terms = {Tensor::of<float>({1, 2}, {2})};
  std::vector<float> out = {7, 7, 7};
  const std::span<float> two(out.data(), 2);
  expect_error(ErrorKind::kShapeMismatch, "the sum has shape [2] but the output has shape [3]",
               [&] { add_n(terms, TensorView::over<float>(out, {3})); });
  expect_error(ErrorKind::kShapeMismatch,
               "the output has 12 bytes for a float32 tensor of shape [2], which has 8 bytes",
               [&] { add_n(terms, TensorView::over<float>(out, {2})); });
  expect_error(ErrorKind::kDtypeMismatch, "the sum is float32 but the output is int32", [&] {
    add_n(terms, TensorView{std::as_writable_bytes(two), DType::kInt32, {2}});
  });
  const std::vector<Tensor> integers = {Tensor::of<std::int32_t>({1, 2}, {2})};
  expect_error(ErrorKind::kDtypeMismatch, "the sum is float64 but the output is float32",
               [&] { add_n(integers, TensorView::over<float>(two, {2}), {.mean = true}); });
  const std::vector<Tensor> shapes = {terms[0], Tensor::of<float>({1}, {1})};
  EXPECT_THROW(add_n(shapes, TensorView::over<float>(two, {2})), InvalidArgument);
  EXPECT_EQ(out, std::vector<float>(3, 7.0F));
}

TEST(AddNResult, OwnsItsBytesAndKeepsTheDevice) {
  std::vector<float> memory = {1, 2};
  const std::vector<Tensor> terms = {Tensor::view<float>(memory, {2}, parse_device("/gpu:1"))};
  const Tensor sum = add_n(terms);
  memory[0] = 9;
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(sum.device(), parse_device("/gpu:1"));
}

}  // namespace
}  // namespace fanin
