#include "executor/trial.h"

#include <gmock/gmock.h>

#include <thread>

#include "core/count_allocations.h"
#include "fanin/error.h"
#include "schedule/goal.h"
#include "schedule/reshape.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

constexpr DType kDTypes[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
                             DType::kInt8,    DType::kInt16,    DType::kInt32,   DType::kInt64,
                             DType::kUInt8,   DType::kUInt16,   DType::kUInt32,  DType::kUInt64};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax,
                             ReduceOp::kProd};
constexpr Lowering kLowerings[] = {Lowering::kFused, Lowering::kLiteral};

TEST(Trial, IsRightForEveryGoalOpAndType) {
  for (const Schedule& schedule : {ring_of_3(), tree_of_4(), servers_for_3()}) {
    for (const Goal goal : all_goals()) {
      const Schedule derived = for_goal(schedule, goal, schedule.rank_count - 1);
      for (const ReduceOp op : kOps) {
        if (op != ReduceOp::kSum && !adds(goal)) continue;
        for (const DType dtype : kDTypes) {
          for (const Lowering lowering : kLowerings) {
            Trial trial(derived,
                        {.element_count = 701, .dtype = dtype, .op = op, .lowering = lowering},
                        Context::process());
            trial.run();
            EXPECT_EQ(trial.find_wrong(), std::nullopt)
                << name(goal) << " by " << schedule.name << ", " << name(op) << " of "
                << name(dtype) << (lowering == Lowering::kLiteral ? ", literal" : "");
          }
        }
      }
    }
  }
}

TEST(Trial, SeesWhatIsWrong) {
  Trial trial(ring_of_3(), {.element_count = 100}, Context::process());
  EXPECT_THAT(trial.find_wrong(), testing::Optional(testing::HasSubstr("rank 0 got -")))
      << "nothing has run yet";
}

TEST(MemoryPlanLimits, EndARunThatIsLateOrCancelled) {
  Trial trial(ring_of_3(), {.element_count = 1'000'000}, Context::process());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(trial.run({.stop = stop.get_token()}), Cancelled);
  EXPECT_THROW(trial.run({.deadline = Clock::now() - std::chrono::seconds(1)}), DeadlineExceeded);
  trial.run({.deadline = Clock::now() + std::chrono::hours(1)});
  EXPECT_EQ(trial.find_wrong(), std::nullopt);
}

TEST(MemoryPlanLimits, EndARunThatIsUnderWay) {
  Trial trial(tree_of_4(), {.element_count = 1'000'000}, Context::process());
  std::stop_source stop;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    stop.request_stop();
  });
  EXPECT_THROW(
      {
        while (true) trial.run({.stop = stop.get_token()});
      },
      Cancelled);
}

TEST(MemoryPlanLiteral, AllocatesNothingWhenItRuns) {
  Context context({.thread_count = 2});
  Trial trial(for_goal(ring_of_3(), Goal::kAllGather, 0),
              {.element_count = 90'000, .lowering = Lowering::kLiteral}, context);
  trial.run();
  const auto before = allocation_count();
  for (int i = 0; i < 10; ++i) trial.run();
  EXPECT_EQ(allocation_count(), before) << "planning allocates, so there was none either";
}

TEST(MemoryPlanLiteral, HasNoSharedOutputs) {
  EXPECT_THROW(
      Trial(ring_of_3(),
            {.element_count = 1, .outputs = Outputs::kShared, .lowering = Lowering::kLiteral},
            Context::process()),
      InvalidArgument);
}

}  // namespace
}  // namespace fanin
