#include "schedule/goal.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace fanin
