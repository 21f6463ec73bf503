#include "schedule/values.h"

#include <gmock/gmock.h>

#include <numeric>

namespace fanin {
namespace {

using testing::ElementsAre;

TEST(Values, GiveEqualFoldsEqualIds) {
  Values values(3);
  const std::vector<ValueId> ab = {0, 1}, ba = {1, 0};
  EXPECT_EQ(values.fold(ab), values.fold(ab));
  EXPECT_NE(values.fold(ab), values.fold(ba));
}

TEST(Values, TakeASingleSourceAsItself) {
  Values values(2);
  EXPECT_EQ(values.fold(std::vector<ValueId>{1}), 1);
}

TEST(Values, SpliceAFoldInFirstPlaceOnly) {
  Values values(4);
  const ValueId ab = values.fold(std::vector<ValueId>{0, 1});
  EXPECT_EQ(values.fold(std::vector<ValueId>{ab, 2}), values.fold(std::vector<ValueId>{0, 1, 2}));
  const ValueId nested = values.fold(std::vector<ValueId>{2, ab});
  EXPECT_THAT(values.sources(nested), ElementsAre(2, ab));
}

TEST(Values, FoldUpToNineSourcesFromTheLeft) {
  Values values(9);
  std::vector<ValueId> all(9);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(values.add_n(all), values.fold(all));
}

TEST(Values, SumMoreThanNineSourcesInGroupsOfEight) {
  Values values(18);
  std::vector<ValueId> all(18);
  std::iota(all.begin(), all.end(), 0);
  const ValueId sum = values.add_n(all);  // 18 mod 8 = 2 lead, then two groups
  ASSERT_EQ(values.sources(sum).size(), 4U);
  EXPECT_EQ(values.sources(sum)[0], 0);
  EXPECT_EQ(values.sources(sum)[1], 1);
  EXPECT_THAT(values.sources(values.sources(sum)[2]), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(values.sources(values.sources(sum)[3]), ElementsAre(10, 11, 12, 13, 14, 15, 16, 17));
}

TEST(Walk, ReadsWhatWasThereBeforeTheRound) {
  // Two ranks swap in one round.
  const Schedule swap{.name = "swap",
                      .rank_count = 2,
                      .chunk_count = 1,
                      .rounds = {{{0, {0, 1}, {1}}, {1, {0, 1}, {0}}}}};
  EXPECT_THAT(walk(swap, 0).at_end, ElementsAre(1, 0));
}

TEST(Walk, LeavesPlacesThatNobodyWroteEmpty) {
  const Schedule idle{.name = "idle", .rank_count = 1, .helper_count = 1, .chunk_count = 1};
  EXPECT_THAT(walk(idle, 0).at_end, ElementsAre(0, kNoValue));
}

}  // namespace
}  // namespace fanin
