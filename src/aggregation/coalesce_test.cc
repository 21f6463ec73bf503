#include <gtest/gtest.h>

#include "aggregation/test_terms.h"
#include "core/expect_error.h"
#include "fanin/aggregate.h"

namespace fanin {
namespace {

TEST(Coalesce, SortsAndAddsRowsOfOneIndex) {
  const auto once = coalesce(slices({3, 4, 5, 6, 7, 8, 1, 1}, {4, 0, 4, 2}));
  EXPECT_EQ(once.indices.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 2, 4}));
  EXPECT_EQ(once.values.to_vector<float>(), (std::vector<float>{5, 6, 1, 1, 10, 12}));
  EXPECT_EQ(once.values.shape(), Shape({3, 2}));
  EXPECT_EQ(once.dense_shape, Shape({5, 2}));
}

TEST(Coalesce, AddsInOrderOfAppearanceAndRoundsHalvesOnce) {
  const IndexedSlices halves{
      Tensor::of<Float16>({Float16(2048.0F), Float16(1.0F), Float16(1.0F)}, {3}),
      Tensor::of<std::int64_t>({7, 7, 7}, {3}), std::nullopt};
  EXPECT_EQ(static_cast<float>(coalesce(halves).values.to_vector<Float16>()[0]), 2050.0F);
  const auto native = coalesce(halves, {.accumulation = Accumulation::kNative});
  EXPECT_EQ(static_cast<float>(native.values.to_vector<Float16>()[0]), 2048.0F);
  EXPECT_EQ(native.indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{7}));
}

TEST(Coalesce, IsExactIfAskedFor) {
  const IndexedSlices slices{Tensor::of<float>({0x1p80F, 1, -0x1p80F, 0x1p-24F, 0x1p-80F}, {5}),
                             Tensor::of<std::int32_t>({2, 2, 2, 2, 2}, {5}), Shape({4})};
  const auto once = coalesce(slices, {.accumulation = Accumulation::kExact});
  EXPECT_EQ(once.values.to_vector<float>(), std::vector<float>{1 + 0x1p-23F});
}

TEST(Coalesce, IsExactWhenAsked) {
  const auto cancels = slices({1e30F, 1, 1, 2, -1e30F, 3}, {2, 2, 2});
  EXPECT_EQ(coalesce(cancels, {.accumulation = Accumulation::kExact}).values.to_vector<float>(),
            (std::vector<float>{1, 6}));
  EXPECT_EQ(coalesce(cancels).values.to_vector<float>(), (std::vector<float>{0, 6}));
}

TEST(Coalesce, TakesNoRowsAndRowsOfNothing) {
  EXPECT_EQ(coalesce(slices({}, {})).values.shape(), Shape({0, 2}));
  const IndexedSlices empty_rows{Tensor::of<float>({}, {2, 0}),
                                 Tensor::of<std::int32_t>({1, 1}, {2}), std::nullopt};
  EXPECT_EQ(coalesce(empty_rows).values.shape(), Shape({1, 0}));
}

TEST(Coalesce, RefusesWhatDoesNotFitTogether) {
  expect_error(ErrorKind::kIndexOutOfRange,
               "sparse term 0 has index 7, but dense_shape [5,2] has 5 rows", [] {
                 coalesce(slices({1, 2}, {7}));
               });
  expect_error(ErrorKind::kIndexOutOfRange, "sparse term 0 has index -1, below 0", [] {
    coalesce(slices({1, 2}, {-1}, std::nullopt));
  });
  expect_error(ErrorKind::kSparseMismatch,
               "sparse term 0 has values of shape [1,2], whose rows do not fit its dense_shape "
               "[5,3]",
               [] {
                 coalesce(slices({1, 2}, {0}, Shape({5, 3})));
               });
}

}  // namespace
}  // namespace fanin
