#include "schedule/goal.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "fanin/error.h"

namespace fanin {
namespace {

TEST(Goal, HasANameThatIsReadBack) {
  for (const Goal goal : all_goals()) EXPECT_EQ(parse_goal(name(goal)), goal);
  try {
    parse_goal("allreduce");
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "there is no goal \"allreduce\"; known are: all_reduce, reduce, broadcast, "
                 "reduce_scatter, all_gather, gather, scatter, all_to_all");
  }
}

/// Who holds or wants each chunk, as "01" for ranks 0 and 1.
std::string who(const Schedule& schedule, bool (*is)(const Schedule&, int, int)) {
  std::string text;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    text += chunk == 0 ? "" : " ";
    for (int rank = 0; rank < schedule.rank_count; ++rank)
      if (is(schedule, rank, chunk)) text += std::to_string(rank);
  }
  return text;
}

TEST(Goal, SaysWhoHoldsAndWantsEachChunk) {
  struct Case {
    Goal goal;
    int chunks;
    std::string holds, wants;
  };
  for (const Case& each : {
           Case{Goal::kAllReduce, 1, "01", "01"},
           Case{Goal::kReduce, 1, "01", "1"},
           Case{Goal::kBroadcast, 1, "1", "01"},
           Case{Goal::kReduceScatter, 4, "01 01 01 01", "0 0 1 1"},
           Case{Goal::kAllGather, 2, "0 1", "01 01"},
           Case{Goal::kGather, 2, "0 1", "1 1"},
           Case{Goal::kScatter, 2, "1 1", "0 1"},
           Case{Goal::kAllToAll, 4, "0 0 1 1", "0 1 0 1"},
           Case{Goal::kAllToAll, 8, "0 0 0 0 1 1 1 1", "0 0 1 1 0 0 1 1"},
       }) {
    const Schedule schedule{
        .name = "s", .goal = each.goal, .root = 1, .rank_count = 2, .chunk_count = each.chunks};
    EXPECT_EQ(who(schedule, holds), each.holds) << name(each.goal);
    EXPECT_EQ(who(schedule, wants), each.wants) << name(each.goal);
    EXPECT_EQ(each.chunks % part_count(each.goal, 2), 0) << name(each.goal);
  }
}

TEST(Goal, ListsThePartsOfARank) {
  for (const Goal goal : all_goals())
    for (int ranks = 1; ranks <= 5; ++ranks) {
      const int parts = part_count(goal, ranks);
      const Schedule schedule{.name = "s",
                              .goal = goal,
                              .root = ranks / 2,
                              .rank_count = ranks,
                              .chunk_count = 2 * parts};
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<int> held, wanted;
        const PartList of_input = held_parts(goal, ranks, rank, schedule.root);
        for (int i = 0; i < of_input.count; ++i)
          held.push_back(of_input.first + i * of_input.stride);
        const PartList of_output = wanted_parts(goal, ranks, rank, schedule.root);
        for (int i = 0; i < of_output.count; ++i)
          wanted.push_back(of_output.first + i * of_output.stride);
        for (int part = 0; part < parts; ++part) {
          EXPECT_EQ(std::ranges::count(held, part), holds(schedule, rank, 2 * part) ? 1 : 0);
          EXPECT_EQ(std::ranges::count(wanted, part), wants(schedule, rank, 2 * part + 1) ? 1 : 0);
        }
      }
    }
}

TEST(Goal, HasPartsWhereRanksHoldOrWantDifferentData) {
  for (const Goal goal : all_goals())
    EXPECT_EQ(has_parts(goal), part_count(goal, 2) > 1) << name(goal);
}

}  // namespace
}  // namespace fanin
