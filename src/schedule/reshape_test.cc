#include "schedule/reshape.h"

#include <gmock/gmock.h>

#include "schedule/goal.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

TEST(ForGoal, IsProvedForEveryGoalShapeAndRoot) {
  for (const Schedule& schedule : {ring_of_3(), tree_of_4(), servers_for_3(), everyone_of_20()}) {
    for (const Goal goal : all_goals()) {
      for (int root = 0; root < (has_root(goal) ? schedule.rank_count : 1); ++root) {
        const Schedule derived = for_goal(schedule, goal, root);
        EXPECT_EQ(derived.goal, goal);
        EXPECT_EQ(find_error(derived), std::nullopt) << name(goal) << " of " << schedule.name;
      }
    }
  }
}

TEST(ForGoal, LeavesOutWhatNobodyWants) {
  EXPECT_EQ(to_text(for_goal(tree_of_4(), Goal::kReduce, 0)),
            "schedule tree goal=reduce root=0 ranks=4 helpers=0 chunks=1\n"
            "round\n0 [0,1) = 0 + 1\n2 [0,1) = 2 + 3\n"
            "round\n0 [0,1) = 0 + 2\n");
}

TEST(ForGoal, DistributesTheWayItCollects) {
  EXPECT_EQ(to_text(for_goal(tree_of_4(), Goal::kBroadcast, 0)),
            "schedule tree goal=broadcast root=0 ranks=4 helpers=0 chunks=1\n"
            "round\n2 [0,1) = 0\n"
            "round\n1 [0,1) = 0\n3 [0,1) = 2\n");
}

TEST(Refine, CutsChunks) {
  const Schedule fine = refine(ring_of_3(), 4);
  EXPECT_EQ(fine.chunk_count, 12);
  EXPECT_EQ(fine.rounds[0][1].chunks, (Chunks{4, 8}));
  EXPECT_EQ(find_error(fine), std::nullopt);
}

}  // namespace
}  // namespace fanin
