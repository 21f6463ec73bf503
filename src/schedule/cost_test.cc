#include <gmock/gmock.h>

#include "fanin/schedule_cost.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

TEST(ScheduleCost, OfARingIsTheSameOnEveryLink) {
  const ScheduleCost cost = cost_of(ring_of_3());
  EXPECT_EQ(cost.round_count, 4);
  EXPECT_EQ(cost.message_count, 12);
  EXPECT_EQ(cost.moved_chunks, 12);
  EXPECT_EQ(cost.links, (std::vector<LinkLoad>{{0, 1, 4}, {1, 2, 4}, {2, 0, 4}}));
  EXPECT_EQ(cost.most_sent, 4);
  EXPECT_EQ(cost.most_received, 4);
  EXPECT_EQ(cost.scratch_chunks, 0);
  EXPECT_DOUBLE_EQ(cost.share(cost.most_sent), 4.0 / 3);
}

TEST(ScheduleCost, OfATreeIsHeaviestAtItsRoot) {
  const ScheduleCost cost = cost_of(tree_of_4());
  EXPECT_EQ(cost.round_count, 3);
  EXPECT_EQ(cost.links, (std::vector<LinkLoad>{
                            {0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 0, 1}, {2, 0, 1}, {3, 2, 1}}));
  EXPECT_EQ(cost.most_sent, 3);
  EXPECT_EQ(cost.most_received, 2);
}

TEST(ScheduleCost, CountsWhatHelpersHold) {
  const ScheduleCost cost = cost_of(servers_for_3());
  EXPECT_EQ(cost.message_count, 12);
  EXPECT_EQ(cost.scratch_chunks, 2);
  EXPECT_EQ(cost.most_sent, 3) << "a helper gives its chunk to three ranks";
  EXPECT_DOUBLE_EQ(cost.share(cost.most_sent), 1.5);
}

TEST(ScheduleCost, CountsACellOfAHelperOnceHoweverOftenItIsWritten) {
  const ScheduleCost cost = cost_of(parse_schedule(
      "schedule x goal=all_reduce ranks=1 helpers=2 chunks=8\n"
      "round\n1 [0,4) = 0\n2 [6,7) = 0\nround\n1 [2,6) = 0\n1 [1,2) = 0\n2 [0,1) = 0\n"));
  EXPECT_EQ(cost.scratch_chunks, 6 + 2);
}

TEST(ScheduleCost, CountsRangesByTheirChunksAndMessagesByTheirSources) {
  const ScheduleCost cost =
      cost_of(parse_schedule("schedule x goal=all_reduce ranks=3 helpers=0 chunks=8\n"
                             "round\n0 [2,8) = 0 + 1 + 2\n"));
  EXPECT_EQ(cost.message_count, 2);
  EXPECT_EQ(cost.moved_chunks, 12);
  EXPECT_EQ(cost.most_sent, 6);
  EXPECT_EQ(cost.most_received, 12);
}

TEST(ScheduleCost, OfNothingIsNothing) {
  EXPECT_EQ(cost_of({.name = "alone", .rank_count = 1, .chunk_count = 1}),
            (ScheduleCost{.chunk_count = 1}));
}

}  // namespace
}  // namespace fanin
