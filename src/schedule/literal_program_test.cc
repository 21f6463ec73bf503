#include <gmock/gmock.h>

#include "schedule/memory_program.h"
#include "schedule/reshape.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

TEST(LiteralProgram, IsWhatTheScheduleSaysForEveryShapeAndGoal) {
  for (const Schedule& schedule : schedules_of_all_shapes()) {
    if (schedule.rank_count > 33 || schedule.goal != Goal::kAllReduce) continue;
    for (const Goal goal : all_goals()) {
      const Schedule derived = for_goal(schedule, goal, 0);
      const StepIndex steps(derived);
      for (int chunk = 0; chunk < derived.chunk_count; ++chunk)
        ASSERT_EQ(find_error(lower_literally(steps, chunk), steps, chunk, Outputs::kSeparate),
                  std::nullopt)
            << name(goal) << " of " << schedule.name;
    }
  }
}

TEST(LiteralProgram, HasAnOperationForEachStep) {
  const Schedule schedule = ring_of_3();
  const MemoryProgram program = lower_literally(schedule, 0);
  EXPECT_EQ(program.operations.size(), 4U);
  EXPECT_EQ(program.scratch_count, 1) << "the sum of 0 and 1 on its way";
  EXPECT_TRUE(program.operations[1].finishes) << "the second add has them all";
  EXPECT_EQ(program.operations[2].sources, program.operations[1].targets) << "then it is copied";
}

TEST(LiteralProgram, UsesScratchAgainThatNobodyReads) {
  const Schedule schedule =
      parse_schedule(R"(schedule line goal=reduce root=3 ranks=4 helpers=3 chunks=1
round
4 [0,1) = 0 + 1
round
5 [0,1) = 4 + 2
round
4 [0,1) = 5
round
3 [0,1) = 4 + 3
)");
  ASSERT_EQ(find_error(schedule), std::nullopt);
  EXPECT_EQ(lower_literally(schedule, 0).scratch_count, 3);
}

}  // namespace
}  // namespace fanin
