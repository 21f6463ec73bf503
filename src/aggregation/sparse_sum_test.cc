#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "aggregation/slow_sum.h"
#include "core/expect_error.h"
#include "fanin/add_n.h"

namespace fanin {
namespace {

using Terms = std::vector<std::optional<Value>>;

Tensor indices32(std::vector<std::int32_t> indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  return Tensor::of<std::int32_t>(indices, {count});
}

Tensor indices64(std::vector<std::int64_t> indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  return Tensor::of<std::int64_t>(indices, {count});
}

/// Rows of two floats.
IndexedSlices rows(std::vector<float> values, Tensor indices,
                   std::optional<Shape> dense_shape = Shape({5, 2})) {
  const auto count = static_cast<std::int64_t>(values.size() / 2);
  return {Tensor::of<float>(values, {count, 2}), std::move(indices), std::move(dense_shape)};
}

Tensor dense(std::vector<float> values, Shape shape) {
  return Tensor::of<float>(values, std::move(shape));
}

IndexedSlices sparse_sum(const Terms& terms, const SumOptions& options = {}) {
  return std::get<IndexedSlices>(add_n(terms, options).value());
}

TEST(SparseSum, IsOneAfterTheOtherWithDuplicates) {
  const auto sum = sparse_sum({rows({1, 2, 3, 4}, indices32({4, 0})), std::nullopt,
                               rows({}, indices32({})), rows({5, 6}, indices32({4}))});
  EXPECT_EQ(sum.values.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sum.values.shape(), Shape({3, 2}));
  EXPECT_EQ(sum.indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{4, 0, 4}));
  EXPECT_EQ(sum.dense_shape, Shape({5, 2}));
}

TEST(SparseSum, OfOneTermStaysSparseAndIsChecked) {
  const auto sum = sparse_sum({rows({1, 2}, indices64({3}))});
  EXPECT_EQ(sum.values.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(sum.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3}));
  expect_error(ErrorKind::kIndexOutOfRange,
               "sparse term 0 has index 5, but dense_shape [5,2] has 5 rows", [] {
                 add_n(Terms{rows({1, 2}, indices32({5}))});
               });
}

TEST(SparseSum, HasInt64IndicesIfOneTermHas) {
  const auto sum = sparse_sum({rows({1, 2}, indices32({4})), rows({9, 9}, indices64({2}))});
  EXPECT_EQ(sum.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{4, 2}));
}

TEST(SparseSum, KeepsTheKnownDenseShape) {
  const auto far = indices64({std::int64_t{1} << 40});
  EXPECT_EQ(sparse_sum({rows({1, 2}, far, std::nullopt)}).dense_shape, std::nullopt);
  EXPECT_EQ(sparse_sum({rows({1, 2}, indices32({4}), std::nullopt), rows({1, 2}, indices32({4}))})
                .dense_shape,
            Shape({5, 2}));
  expect_error(ErrorKind::kIndexOutOfRange, testing::HasSubstr("1099511627776"), [&] {
    add_n(Terms{rows({1, 2}, far, std::nullopt), rows({}, indices32({}))});
  });
}

TEST(SparseSum, DividesTheValuesForTheMean) {
  const Terms terms = {rows({2, 4}, indices32({1})), std::nullopt, rows({6, 8}, indices32({1}))};
  EXPECT_EQ(sparse_sum(terms, {.mean = true}).values.to_vector<float>(),
            (std::vector<float>{1, 2, 3, 4}));
  const IndexedSlices bytes{Tensor::of<std::int8_t>({3}, {1, 1}), indices32({0}), Shape({2, 1})};
  const auto mean = sparse_sum({bytes, bytes}, {.mean = true});
  EXPECT_EQ(mean.values.to_vector<float>(), (std::vector<float>{1.5, 1.5}));
}

TEST(SparseSum, WithADenseTermIsDense) {
  const Terms terms = {rows({3, 4, 5, 6, 7, 8}, indices32({0, 4, 0})),
                       dense({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {5, 2}), std::nullopt,
                       rows({}, indices64({}), std::nullopt)};
  const auto sum = std::get<Tensor>(add_n(terms).value());
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{11, 14, 3, 4, 5, 6, 7, 8, 14, 16}));
  EXPECT_EQ(sum.shape(), Shape({5, 2}));
}

TEST(SparseSum, WithADenseTermHasTheOrderOfAddN) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1000);
  constexpr std::int64_t kRows = 7;
  for (std::size_t n = 2; n <= 27; ++n) {
    Terms terms;
    std::vector<std::vector<float>> expanded;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<float> full(kRows * 2, 0.0F);
      if (i % 3 == 1) {
        for (float& value : full) value = normal(random);
        terms.emplace_back(dense(full, {kRows, 2}));
      } else {
        std::vector<float> values;
        std::vector<std::int64_t> indices;
        for (int k = 0; k < 12; ++k) {
          indices.push_back(static_cast<std::int64_t>(random() % kRows));
          for (std::size_t column = 0; column < 2; ++column) {
            values.push_back(normal(random));
            full[static_cast<std::size_t>(indices.back()) * 2 + column] += values.back();
          }
        }
        terms.emplace_back(rows(values, indices64(indices), Shape({kRows, 2})));
      }
      expanded.push_back(full);
    }
    const auto got = std::get<Tensor>(add_n(terms).value()).to_vector<float>();
    EXPECT_EQ(got, slow_sum(expanded)) << n << " terms";
  }
}

TEST(SparseSum, OfHalvesRoundsOnceAtTheEnd) {
  const auto half = [](float value) { return Float16(value); };
  // 2048 + 1 + 1 is 2050 if only the end rounds, and 2048 if each step does.
  const IndexedSlices sparse{Tensor::of({half(2048), half(1), half(1)}, {3}), indices32({1, 1, 1}),
                             Shape({2})};
  const Terms terms = {sparse, Tensor::of({half(0), half(0)}, {2})};
  const auto at_1 = [&](Accumulation accumulation) {
    const auto sum = std::get<Tensor>(add_n(terms, {.accumulation = accumulation}).value());
    return static_cast<float>(sum.to_vector<Float16>()[1]);
  };
  EXPECT_EQ(at_1(Accumulation::kWide), 2050.0F);
  EXPECT_EQ(at_1(Accumulation::kNative), 2048.0F);
  // 60000 + 60000 - 60000 across terms: no infinity on the way.
  const IndexedSlices large{Tensor::of({half(60000), half(60000)}, {2}), indices32({0, 0}),
                            Shape({1})};
  const Terms back = {large, Tensor::of({half(-60000)}, {1})};
  const auto sum = std::get<Tensor>(add_n(back).value());
  EXPECT_EQ(static_cast<float>(sum.to_vector<Float16>()[0]), 60000.0F);
}

TEST(SparseSum, OfIntegersWithADenseTermGivesTheExactMean) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  const IndexedSlices sparse{Tensor::of<std::int64_t>({most, most}, {2}), indices32({0, 0}),
                             Shape({1})};
  const Terms terms = {sparse, Tensor::of<std::int64_t>({2}, {1})};
  const auto mean = std::get<Tensor>(add_n(terms, {.mean = true}).value());
  EXPECT_EQ(mean.to_vector<double>(), std::vector<double>{0x1p63});
}

TEST(SparseSum, TakesRowsOfAnyRankAndNoElements) {
  const IndexedSlices scalars{Tensor::of<float>({3, 4, 5}, {3}), indices32({1, 1, 0}), Shape({4})};
  const Terms mixed = {scalars, dense({1, 1, 1, 1}, {4})};
  EXPECT_EQ(std::get<Tensor>(add_n(mixed).value()).to_vector<float>(),
            (std::vector<float>{6, 8, 1, 1}));
  const IndexedSlices empty_rows{Tensor::of<float>({}, {2, 0}), indices32({1, 1}), Shape({4, 0})};
  EXPECT_EQ(std::get<Tensor>(add_n(Terms{empty_rows, dense({}, {4, 0})}).value()).shape(),
            Shape({4, 0}));
  const IndexedSlices no_rows{Tensor::of<float>({}, {0, 3}), indices32({}), Shape({0, 3})};
  EXPECT_EQ(std::get<Tensor>(add_n(Terms{no_rows, dense({}, {0, 3})}).value()).shape(),
            Shape({0, 3}));
}

TEST(SparseSum, DropsMissingTerms) {
  EXPECT_EQ(add_n(Terms{std::nullopt, std::nullopt}), std::nullopt);
  const Terms one = {std::nullopt, dense({1, 2}, {2})};
  EXPECT_EQ(std::get<Tensor>(add_n(one, {.mean = true}).value()).to_vector<float>(),
            (std::vector<float>{1, 2}));
  expect_error(ErrorKind::kEmpty, "add_n needs at least one term, got none",
               [] { add_n(Terms{}); });
}

TEST(SparseSumErrors, AreAboutOneTerm) {
  const auto values = Tensor::of<float>({1, 2}, {1, 2});
  const auto expect_mismatch = [](const char* message, IndexedSlices slices) {
    const Terms terms = {std::nullopt, std::move(slices)};
    expect_error(ErrorKind::kSparseMismatch, message, [&] { add_n(terms); });
  };
  expect_mismatch("sparse term 1 has int8 indices; indices are int32 or int64",
                  {values, Tensor::of<std::int8_t>({0}, {1}), Shape({5, 2})});
  expect_mismatch("sparse term 1 has indices of shape [1,1]; indices have one dimension",
                  {values, Tensor::of<std::int32_t>({0}, {1, 1}), Shape({5, 2})});
  expect_mismatch("sparse term 1 has values of shape [1,2] for 2 indices; each index has one row",
                  {values, indices32({0, 1}), Shape({5, 2})});
  expect_mismatch("sparse term 1 has values of shape [] for 1 indices; each index has one row",
                  {Tensor::of<float>({1}, {}), indices32({0}), std::nullopt});
  expect_mismatch(
      "sparse term 1 has values of shape [1,2], whose rows do not fit its dense_shape [5,3]",
      {values, indices32({0}), Shape({5, 3})});
  expect_mismatch(
      "sparse term 1 has values of shape [1,2], whose rows do not fit its dense_shape []",
      {values, indices32({0}), Shape()});
}

TEST(SparseSumErrors, AreAboutTwoTerms) {
  const auto good = rows({1, 2}, indices32({0}));
  expect_error(ErrorKind::kSparseMismatch,
               "sparse term 0 has dense_shape [5,2] but sparse term 1 has [6,2]", [&] {
                 add_n(Terms{good, rows({1, 2}, indices32({0}), Shape({6, 2}))});
               });
  const IndexedSlices wide{Tensor::of<float>({1, 2, 3}, {1, 3}), indices32({0}), std::nullopt};
  expect_error(ErrorKind::kShapeMismatch,
               "sparse term 0 has values of shape [1,2] but sparse term 1 has [1,3]; their rows "
               "differ",
               [&] {
                 add_n(Terms{good, wide});
               });
  const IndexedSlices other{Tensor::of<double>({1, 2}, {1, 2}), indices32({0}), Shape({5, 2})};
  expect_error(ErrorKind::kDtypeMismatch,
               "term 0 is float32 but term 2 is float64; the terms of a sum have one dtype", [&] {
                 add_n(Terms{good, std::nullopt, other});
               });
  expect_error(ErrorKind::kIndexOutOfRange, "sparse term 1 has index -1, below 0", [&] {
    add_n(Terms{good, rows({1, 2}, indices32({-1}), std::nullopt)});
  });
}

TEST(SparseSumErrors, AreAboutASparseAndADenseTerm) {
  const auto good = rows({1, 2}, indices32({3}));
  expect_error(ErrorKind::kShapeMismatch,
               "term 0 has shape [5,2] but term 1 has shape [4,2]; the terms of a sum have one "
               "shape",
               [&] {
                 add_n(Terms{good, dense(std::vector<float>(8), {4, 2})});
               });
  const auto unknown = rows({1, 2}, indices32({3}), std::nullopt);
  expect_error(ErrorKind::kShapeMismatch,
               "term 1 has shape [4,3], into which the rows of sparse term 0, with values of shape "
               "[1,2], do not fit",
               [&] {
                 add_n(Terms{unknown, dense(std::vector<float>(12), {4, 3})});
               });
  expect_error(ErrorKind::kShapeMismatch, testing::HasSubstr("term 1 has shape []"), [&] {
    add_n(Terms{unknown, dense({1}, {})});
  });
  expect_error(ErrorKind::kIndexOutOfRange,
               "sparse term 0 has index 3, but dense_shape [3,2] has 3 rows", [&] {
                 add_n(Terms{unknown, dense(std::vector<float>(6), {3, 2})});
               });
  expect_error(ErrorKind::kDtypeMismatch, testing::HasSubstr("float32 but term 1 is float64"), [&] {
    add_n(Terms{good, Tensor::of<double>({1}, {1})});
  });
}

}  // namespace
}  // namespace fanin
