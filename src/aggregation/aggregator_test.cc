#include "fanin/aggregator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <thread>

#include "aggregation/test_terms.h"
#include "aggregation/tree_reference.h"
#include "core/expect_error.h"
#include "core/sanitized.h"
#include "fanin/aggregate.h"

namespace fanin {
namespace {

using Method = AggregationMethod;
using testing::HasSubstr;

constexpr Method kMethods[] = {Method::kAddN, Method::kExperimentalTree,
                               Method::kExperimentalAccumulateN, Method::kAuto};

template <typename T>
Value sum_in_order(const std::vector<std::vector<T>>& terms, Method method,
                   const SumOptions& options = {}) {
  Aggregator aggregator(static_cast<int>(terms.size()), method, options);
  for (const auto& term : terms) aggregator.push(to_tensor(term));
  return *aggregator.finish();
}

template <typename T>
class AggregatorOf : public testing::Test {};
using Types = testing::Types<float, double, Float16, BFloat16, std::int32_t>;
TYPED_TEST_SUITE(AggregatorOf, Types);

TYPED_TEST(AggregatorOf, GivesTheBitsOfItsMethodInTheOrderOfArrival) {
  using T = TypeParam;
  for (const std::size_t term_count : {1, 2, 3, 5, 8, 9, 13, 33})
    for (const std::size_t element_count : {0, 1, 777, 40'000}) {
      if (term_count * element_count > (kIsSanitized ? 200'000 : 400'000)) continue;
      const auto terms = random_terms<T>(term_count, element_count, 2);
      for (const auto accumulation : {Accumulation::kWide, Accumulation::kNative}) {
        const bool rounds = accumulation == Accumulation::kNative;
        const SumOptions options{.accumulation = accumulation};
        const auto sum = [&](Method method) { return sum_in_order(terms, method, options); };
        const auto in_order = slow_sum(terms, rounds);
        EXPECT_TRUE(same_bits(sum(Method::kAddN), in_order));
        EXPECT_TRUE(same_bits(sum(Method::kAuto), in_order));
        EXPECT_TRUE(same_bits(sum(Method::kExperimentalTree), slow_tree(terms, rounds)));
        EXPECT_TRUE(
            same_bits(sum(Method::kExperimentalAccumulateN), slow_accumulate(terms, rounds)));
      }
    }
}

TEST(Aggregator, GivesTheMeanAsListsDo) {
  const auto halves = to_values<Float16>({{Float16(60000.0F)}, {Float16(60000.0F)}});
  const auto integers = to_values<std::int64_t>({{5}, {6}, {-4}});
  for (const Method method : kMethods)
    for (const auto& terms : {halves, integers}) {
      Aggregator aggregator(static_cast<int>(terms.size()), method, {.mean = true});
      for (const auto& term : terms) aggregator.push(term);
      const auto got = std::get<Tensor>(*aggregator.finish());
      const auto wanted = std::get<Tensor>(*aggregate(terms, Method::kAddN, {.mean = true}));
      EXPECT_EQ(got.dtype(), wanted.dtype());
      EXPECT_TRUE(std::ranges::equal(got.bytes(), wanted.bytes()));
    }
}

TEST(Aggregator, SumsByIndexForAddN) {
  const auto terms = random_terms<float>(20, 1000, 4);
  Aggregator aggregator(20, Method::kAddN);
  for (const int index : {3, 19, 0, 1, 2, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4})
    aggregator.push(index, to_tensor(terms[static_cast<std::size_t>(index)]));
  EXPECT_TRUE(same_bits(*aggregator.finish(), slow_sum(terms)));
}

// The promises on memory, by the context's own accounting.

constexpr std::size_t kElements = 50'000;

/// Pushes terms that live in the context's memory and in nobody else's hands, and gives the most
/// bytes that were ever in use.
std::size_t peak_bytes(Method method, int term_count) {
  Context context({.thread_count = 2});
  Aggregator aggregator(term_count, method, {.context = &context});
  for (int i = 0; i < term_count; ++i) {
    Buffer buffer = context.buffers().allocate(kElements * sizeof(float));
    std::fill_n(reinterpret_cast<float*>(buffer.bytes().data()), kElements, 1.0F);
    aggregator.push(Tensor(std::move(buffer), DType::kFloat32, {std::int64_t{kElements}}));
  }
  const auto sum = aggregator.finish();
  EXPECT_EQ(std::get<Tensor>(*sum).to_vector<float>(),
            std::vector<float>(kElements, static_cast<float>(term_count)));
  EXPECT_LE(aggregator.record().peak_bytes, context.memory().peak_bytes);
  return context.memory().peak_bytes;
}

TEST(AggregatorMemory, OfAddNIsAllTermsAndTheSum) {
  for (const int count : {1, 2, 10, 33})
    EXPECT_EQ(peak_bytes(Method::kAddN, count),
              static_cast<std::size_t>(count + 1) * kElements * sizeof(float));
}

TEST(AggregatorMemory, OfTreeIsALogarithmOfPartialSumsAndTheTerm) {
  for (const unsigned count : {1U, 2U, 3U, 4U, 7U, 8U, 9U, 31U, 32U, 33U, 100U})
    EXPECT_LE(peak_bytes(Method::kExperimentalTree, static_cast<int>(count)),
              static_cast<std::size_t>(std::bit_width(count) + 1) * kElements * sizeof(float))
        << count;
}

TEST(AggregatorMemory, OfAccumulateNIsOneBufferAndTheTerm) {
  for (const int count : {1, 2, 10, 100})
    EXPECT_EQ(peak_bytes(Method::kExperimentalAccumulateN, count), 2 * kElements * sizeof(float));
}

TEST(AggregatorMemory, IsWhatTheRecordTells) {
  Aggregator tree(9, Method::kExperimentalTree);
  const Tensor term = to_tensor(std::vector<float>(1000, 1.0F));
  std::size_t most = 0;
  for (int i = 0; i < 9; ++i) {
    tree.push(term);
    most = std::max(most, tree.record().partial_count);
    EXPECT_EQ(tree.record().held_bytes, tree.record().partial_count * 4000);
  }
  EXPECT_EQ(most, 3U);  // 4 + 2 + 1
  tree.finish();
  const AggregationRecord record = tree.record();
  EXPECT_EQ(record.method, Method::kExperimentalTree);
  EXPECT_EQ(record.pushed_count, 9U);
  EXPECT_EQ(record.pushed_bytes, 9 * 4000U);
  EXPECT_EQ(record.peak_partial_count, 3U);
  EXPECT_GT(record.moved_bytes, record.pushed_bytes);
  EXPECT_GT(record.busy_time.count(), 0);
}

// Many threads.

TEST(AggregatorThreads, AddEveryTermOnce) {
  constexpr int kThreads = 8;
  constexpr int kEach = 9;
  constexpr std::size_t kCount = 100'003;
  for (const Method method : kMethods) {
    Context context({.thread_count = 2});
    Aggregator aggregator(kThreads * kEach, method, {.context = &context});
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
          for (int i = 0; i < kEach; ++i) {
            const auto value = static_cast<float>(t * kEach + i + 1);
            aggregator.push(to_tensor(std::vector<float>(kCount, value)));
          }
        });
    }
    const float wanted = kThreads * kEach * (kThreads * kEach + 1) / 2;  // exact in any order
    EXPECT_EQ(std::get<Tensor>(*aggregator.finish()).to_vector<float>(),
              std::vector<float>(kCount, wanted))
        << name(method);
    const std::size_t term = kCount * sizeof(float);
    const std::size_t peak = aggregator.record().peak_bytes;
    EXPECT_TRUE(method != Method::kExperimentalAccumulateN || peak <= (kThreads + 1) * term);
    // Each thread may have a term, its pair, and their sum.
    EXPECT_TRUE(method != Method::kExperimentalTree || peak <= (7 + 3 * kThreads) * term);
  }
}

/// Each element of one sum must have seen the terms in one order: the elements are all equal, and
/// the sum depends on the order.
TEST(AggregatorThreads, AddInOneOrderForAllElements) {
  for (const Method method : {Method::kExperimentalTree, Method::kExperimentalAccumulateN})
    for (unsigned round = 0; round < 20; ++round) {
      const auto numbers = random_terms<float>(8, 1, round);
      Aggregator aggregator(8, method);
      {
        std::vector<std::jthread> threads;
        for (const auto& number : numbers)
          threads.emplace_back(
              [&] { aggregator.push(to_tensor(std::vector<float>(70'000, number[0]))); });
      }
      const auto sum = std::get<Tensor>(*aggregator.finish()).to_vector<float>();
      EXPECT_EQ(sum, std::vector<float>(70'000, sum[0]));
    }
}

TEST(AggregatorThreads, MixSparseAndDenseTerms) {
  const Tensor ones = Tensor::of<float>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {5, 2});
  for (const Method method : kMethods) {
    Aggregator aggregator(16, method);
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
          aggregator.push(slices({1, 2}, {4}));
          aggregator.push(ones);
        });
    }
    EXPECT_EQ(std::get<Tensor>(*aggregator.finish()).to_vector<float>(),
              (std::vector<float>{8, 8, 8, 8, 8, 8, 8, 8, 16, 24}));
  }
}

// Sparse and missing terms.

TEST(Aggregator, KeepsSparseTermsSparse) {
  for (const Method method : kMethods) {
    Aggregator aggregator(3, method, {.mean = true});
    aggregator.push(slices({3, 6}, {4}, std::nullopt));
    aggregator.push(slices({}, {}));
    aggregator.push(slices({9, 12, 15, 18}, {0, 4}));
    const auto sum = std::get<IndexedSlices>(*aggregator.finish());
    EXPECT_EQ(sum.values.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(sum.indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{4, 0, 4}));
    EXPECT_EQ(sum.dense_shape, Shape({5, 2}));
  }
}

TEST(Aggregator, SaysWhereSparseTermsOfAccumulateNGo) {
  Aggregator aggregator(2, Method::kExperimentalAccumulateN);
  aggregator.push(Tensor::of<float>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {5, 2}));
  EXPECT_EQ(aggregator.explain().note, "");
  aggregator.push(slices({1, 2}, {4}));
  EXPECT_THAT(aggregator.explain().note, HasSubstr("go to EXPERIMENTAL_TREE"));
  EXPECT_EQ(aggregator.explain().method, Method::kExperimentalAccumulateN);
}

TEST(Aggregator, CountsMissingTermsAndDropsThem) {
  for (const Method method : kMethods) {
    Aggregator some(3, method, {.mean = true});
    some.push(std::nullopt);
    some.push(to_tensor<float>({1}));
    some.push(to_tensor<float>({2}));
    EXPECT_TRUE(same_bits<float>(*some.finish(), {1.5F}));
    Aggregator none(1, method);
    none.push(std::nullopt);
    EXPECT_EQ(none.finish(), std::nullopt);
    EXPECT_EQ(Aggregator(0, method).finish(), std::nullopt);
  }
}

// Errors: none of them spoils the sum.

TEST(AggregatorErrors, OfABadPushSpoilNothing) {
  for (const Method method : kMethods) {
    Aggregator aggregator(2, method);
    aggregator.push(to_tensor<float>({1, 2}));
    expect_error(ErrorKind::kShapeMismatch,
                 "term 0 has shape [2] but term 1 has shape [3]; the terms of a sum have one shape",
                 [&] {
                   aggregator.push(to_tensor<float>({1, 2, 3}));
                 });
    expect_error(ErrorKind::kDtypeMismatch,
                 "term 0 is float32 but term 1 is float64; the terms of a sum have one dtype", [&] {
                   aggregator.push(to_tensor<double>({1, 2}));
                 });
    expect_error(ErrorKind::kBadOption,
                 "1 of 2 terms have been pushed; push the others before "
                 "finish()",
                 [&] { aggregator.finish(); });
    aggregator.push(to_tensor<float>({3, 4}));
    expect_error(ErrorKind::kBadOption,
                 "all 2 terms have been pushed; announce more when the aggregator is made", [&] {
                   aggregator.push(to_tensor<float>({3, 4}));
                 });
    EXPECT_TRUE(same_bits<float>(*aggregator.finish(), {4, 6}));
    expect_error(ErrorKind::kBadOption,
                 "this aggregator is finished; a further term needs a new one", [&] {
                   aggregator.push(to_tensor<float>({3, 4}));
                 });
    expect_error(ErrorKind::kBadOption, "this aggregator has been finished before",
                 [&] { aggregator.finish(); });
  }
}

TEST(AggregatorErrors, AreAboutIndices) {
  Aggregator aggregator(2, Method::kAddN);
  for (const int index : {-1, 2})
    expect_error(ErrorKind::kBadOption,
                 "index " + std::to_string(index) +
                     " is out of range; 2 terms have been announced, from 0 on",
                 [&] { aggregator.push(index, to_tensor<float>({1})); });
  aggregator.push(1, to_tensor<float>({1}));
  expect_error(ErrorKind::kBadOption, "term 1 has been pushed before; each index comes once",
               [&] { aggregator.push(1, to_tensor<float>({1})); });
  expect_error(ErrorKind::kBadOption,
               "terms of one aggregator are pushed all by index or all without; the first was "
               "pushed by index",
               [&] { aggregator.push(to_tensor<float>({1})); });
  aggregator.push(0, to_tensor<float>({5}));
  EXPECT_TRUE(same_bits<float>(*aggregator.finish(), {6}));
}

TEST(AggregatorErrors, AreAboutAnIndexThatALaterShapeForbids) {
  for (const Method method : kMethods) {
    Aggregator aggregator(2, method);
    aggregator.push(slices({1, 2}, {7}, std::nullopt));
    expect_error(ErrorKind::kIndexOutOfRange,
                 "sparse term 0 has index 7, but dense_shape [5,2] has 5 rows", [&] {
                   aggregator.push(slices({1, 2}, {0}));
                 });
    aggregator.push(slices({1, 2}, {0}, Shape({8, 2})));
    EXPECT_EQ(std::get<IndexedSlices>(*aggregator.finish()).dense_shape, Shape({8, 2}));
  }
}

TEST(AggregatorErrors, AreAboutTheConstructor) {
  expect_error(ErrorKind::kBadMethod, HasSubstr("9 is not an aggregation method"),
               [] { Aggregator(1, static_cast<Method>(9)); });
  expect_error(ErrorKind::kBadOption, "an aggregator of -1 terms cannot be; announce 0 or more",
               [] { Aggregator(-1); });
  expect_error(
      ErrorKind::kBadOption,
      "EXPERIMENTAL_TREE has no exact sum: it lets go of terms before all are there; use "
      "ADD_N or AUTO",
      [] { Aggregator(1, Method::kExperimentalTree, {.accumulation = Accumulation::kExact}); });
  expect_error(ErrorKind::kBadOption,
               "there is nothing to explain before the first term: its size decides",
               [] { Aggregator(1).explain(); });
}

}  // namespace
}  // namespace fanin
