#include "fanin/packing.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "core/expect_error.h"

namespace fanin {
namespace {

using testing::ElementsAre;

std::vector<TensorInfo> floats(std::initializer_list<std::int64_t> counts) {
  std::vector<TensorInfo> tensors;
  for (const std::int64_t count : counts) tensors.push_back({"", DType::kFloat32, Shape{count}});
  return tensors;
}

std::vector<std::vector<std::size_t>> members(const std::vector<Pack>& packs) {
  std::vector<std::vector<std::size_t>> all;
  for (const Pack& pack : packs) {
    all.emplace_back();
    for (const Pack::Piece& piece : pack.pieces) all.back().push_back(piece.tensor);
  }
  return all;
}

TEST(Packing, LeavesEachAloneIfNothingIsSet) {
  EXPECT_THAT(members(make_packs(floats({1, 0, 3}), {})),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_TRUE(make_packs({}, {.num_packs = 3}).empty());
}

TEST(Packing, ByBytesGoesFromTheLastToTheFirst) {
  EXPECT_THAT(members(make_packs(floats({3, 3, 3, 3}), {.bytes_per_pack = 24})),
              ElementsAre(ElementsAre(3, 2), ElementsAre(1, 0)));
  EXPECT_THAT(members(make_packs(floats({1, 1, 100}), {.bytes_per_pack = 8})),
              ElementsAre(ElementsAre(2), ElementsAre(1, 0)));
}

TEST(Packing, ByNumberCutsThroughTensors) {
  const std::vector<Pack> packs = make_packs(floats({5, 0, 6}), {.num_packs = 3});
  ASSERT_EQ(packs.size(), 3U);
  EXPECT_THAT(packs[0].pieces, ElementsAre(Pack::Piece{0, 0, 4}));
  EXPECT_THAT(packs[1].pieces, ElementsAre(Pack::Piece{0, 4, 1}, Pack::Piece{2, 0, 3}));
  EXPECT_THAT(packs[2].pieces, ElementsAre(Pack::Piece{2, 3, 3}));
  EXPECT_EQ(packs[1].byte_count(), 16U);
}

TEST(Packing, OfSmallOnesTakesNeighbours) {
  const Packing packing{.agg_small_grads_max_bytes = 16, .agg_small_grads_max_group = 2};
  EXPECT_THAT(members(make_packs(floats({4, 4, 4, 5, 4}), packing)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3), ElementsAre(4)));
}

TEST(Packing, FirstOfBytesNumberAndSmallDecides) {
  Packing packing{.bytes_per_pack = 4, .num_packs = 1, .agg_small_grads_max_bytes = 100};
  EXPECT_EQ(make_packs(floats({1, 1, 1}), packing).size(), 3U);
  packing.bytes_per_pack = 0;
  EXPECT_EQ(make_packs(floats({1, 1, 1}), packing).size(), 1U);
  packing.num_packs = 0;
  EXPECT_THAT(members(make_packs(floats({1, 1, 1}), packing)), ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(Packing, TakesEveryElementOnceAndOneDtypeInAPack) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<TensorInfo> tensors;
    for (std::size_t i = 0; i < random() % 12; ++i)
      tensors.push_back({"", random() % 3 == 0 ? DType::kFloat16 : DType::kFloat64,
                         Shape{static_cast<std::int64_t>(random() % 9)}});
    const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
    const Packing packing{.bytes_per_pack = below(3) == 0 ? below(60) : 0,
                          .num_packs = below(3) == 0 ? below(7) : 0,
                          .agg_small_grads_max_bytes = below(40),
                          .agg_small_grads_max_group = below(4)};
    std::map<std::pair<std::size_t, std::size_t>, int> seen;
    for (const Pack& pack : make_packs(tensors, packing))
      for (const Pack::Piece& piece : pack.pieces) {
        EXPECT_EQ(tensors[piece.tensor].dtype, pack.dtype);
        for (std::size_t i = 0; i < piece.count; ++i) ++seen[{piece.tensor, piece.begin + i}];
      }
    std::size_t count = 0;
    for (const TensorInfo& tensor : tensors) count += tensor.shape.element_count();
    EXPECT_EQ(seen.size(), count);
    for (const auto& [element, times] : seen) EXPECT_EQ(times, 1);
  }
}

TEST(Packing, RefusesWhatIsNegative) {
  const auto expect_refused = [](const Packing& packing, const std::string& message) {
    expect_error(ErrorKind::kBadOption, message, [&] { make_packs({}, packing); });
  };
  expect_refused({.bytes_per_pack = -4}, "bytes_per_pack is -4; use 0 (not set) or more");
  expect_refused({.num_packs = -1}, "num_packs is -1; use 0 (not set) or more");
  expect_refused({.agg_small_grads_max_bytes = -1},
                 "agg_small_grads_max_bytes is -1; use 0 (not set) or more");
  expect_refused({.agg_small_grads_max_group = -1},
                 "agg_small_grads_max_group is -1; use 0 or more");
}

}  // namespace
}  // namespace fanin
