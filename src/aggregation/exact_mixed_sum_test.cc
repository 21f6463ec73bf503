#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "aggregation/mpfr_sum.h"
#include "core/expect_error.h"
#include "fanin/add_n.h"

namespace fanin {
namespace {

using Terms = std::vector<std::optional<Value>>;
constexpr SumOptions kExactly{.accumulation = Accumulation::kExact};

Tensor indices_of(const std::vector<std::int32_t>& indices) {
  return Tensor::of<std::int32_t>(indices, {static_cast<std::int64_t>(indices.size())});
}

std::vector<float> sum_of(const Terms& terms, const SumOptions& options = kExactly) {
  return std::get<Tensor>(add_n(terms, options).value()).to_vector<float>();
}

TEST(ExactMixedSum, TakesEachRowAsATerm) {
  const IndexedSlices sparse{Tensor::of<float>({0x1p100F, 1, 0x1p-24F, 2}, {4}),
                             indices_of({1, 1, 1, 2}), Shape({4})};
  const Tensor dense = Tensor::of<float>({5, -0x1p100F, 6, 7}, {4});
  EXPECT_EQ(sum_of({sparse, dense}), (std::vector<float>{5, 1, 8, 7}));
  const Tensor tiny = Tensor::of<float>({0, 0x1p-80F, 0, 0}, {4});
  EXPECT_EQ(sum_of({tiny, sparse, std::nullopt, dense}),
            (std::vector<float>{5, 1 + 0x1p-23F, 8, 7}));
}

TEST(ExactMixedSum, CountsASparseTermAsZeros) {
  const IndexedSlices sparse{Tensor::of<float>({-0.0F}, {1}), indices_of({1}), Shape({3})};
  const Tensor dense = Tensor::of<float>({-0.0F, -0.0F, -0.0F}, {3});
  for (const float element : sum_of({sparse, dense})) EXPECT_FALSE(std::signbit(element));
  const IndexedSlices three{Tensor::of<float>({3, 6, 9}, {3}), indices_of({0, 0, 2}), Shape({3})};
  EXPECT_EQ(sum_of({three, Tensor::of<float>({0, 3, 0}, {3}), dense},
                   {.accumulation = Accumulation::kExact, .mean = true}),
            (std::vector<float>{3, 1, 3}));
}

TEST(ExactMixedSum, IsThatOfMpfr) {
  std::mt19937 random(9);
  constexpr std::size_t kRows = 40, kColumns = 3;
  const auto any = [&] {
    for (;;)
      if (const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
          std::isfinite(value))
        return value;
  };
  for (int turn = 0; turn < 30; ++turn) {
    const Shape shape({kRows, kColumns});
    Terms terms;
    std::vector<std::vector<double>> columns(kRows * kColumns);
    for (int k = 0; k < 5; ++k) {
      std::vector<float> values;
      if (k % 2 == 0) {
        for (auto& column : columns) column.push_back(values.emplace_back(any()));
        terms.emplace_back(Tensor::of<float>(values, shape));
        continue;
      }
      std::vector<std::int32_t> indices;
      for (int row = 0; row < turn; ++row) {
        indices.push_back(static_cast<std::int32_t>(random() % kRows));
        const auto begin = static_cast<std::size_t>(indices.back()) * kColumns;
        for (std::size_t i = begin; i < begin + kColumns; ++i)
          columns[i].push_back(values.emplace_back(any()));
      }
      terms.emplace_back(IndexedSlices{Tensor::of<float>(values, {turn, kColumns}),
                                       indices_of(indices),
                                       turn % 2 == 0 ? std::optional(shape) : std::nullopt});
    }
    for (const bool mean : {false, true}) {
      const auto got = sum_of(terms, {.accumulation = Accumulation::kExact, .mean = mean});
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], mpfr_sum(DType::kFloat32, columns[i], mean ? 5 : 1)) << i;
    }
  }
}

TEST(ExactMixedSum, LeavesSparseTermsAloneSparse) {
  const auto half = [](float value) { return Float16(value); };
  const IndexedSlices sparse{Tensor::of({half(3), half(1)}, {2}), indices_of({0, 0}), Shape({1})};
  const auto sum = std::get<IndexedSlices>(add_n(Terms{sparse, sparse}, kExactly).value());
  EXPECT_EQ(sum.values.element_count(), 4U);
  const auto mean = std::get<IndexedSlices>(
      add_n(Terms{sparse, sparse}, {.accumulation = Accumulation::kExact, .mean = true}).value());
  EXPECT_EQ(static_cast<float>(mean.values.to_vector<Float16>()[0]), 1.5F);
}

TEST(ExactMixedSum, TakesNoElementsAndChecksIndices) {
  const IndexedSlices empty_rows{Tensor::of<float>({}, {2, 0}), indices_of({1, 1}), Shape({4, 0})};
  EXPECT_EQ(sum_of({empty_rows, Tensor::of<float>({}, {4, 0})}), std::vector<float>());
  const IndexedSlices no_rows{Tensor::of<float>({}, {0, 3}), indices_of({}), Shape({0, 3})};
  EXPECT_EQ(sum_of({no_rows, Tensor::of<float>({}, {0, 3})}), std::vector<float>());
  const IndexedSlices wrong{Tensor::of<float>({1}, {1}), indices_of({3}), Shape({3})};
  expect_error(ErrorKind::kIndexOutOfRange,
               "sparse term 0 has index 3, but dense_shape [3] has 3 rows", [&] {
                 sum_of({wrong, Tensor::of<float>({1, 2, 3}, {3})});
               });
}

}  // namespace
}  // namespace fanin
