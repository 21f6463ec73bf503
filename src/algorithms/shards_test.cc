#include "algorithms/shards.h"

#include <gmock/gmock.h>

namespace fanin {
namespace {

TEST(Shards, TakeTurnsAtBeingTheOneThatSums) {
  const Schedule schedule = build_schedule(
      "one_device", {.topology = {.worker_count = 2, .devices_per_worker = 2}, .shard_count = 5});
  EXPECT_EQ(schedule.name, "one_device#5");
  EXPECT_EQ(schedule.chunk_count, 5);
  std::vector<int> summing;
  for (const Step& step : schedule.rounds[0]) summing.push_back(step.to);
  EXPECT_THAT(summing, testing::ElementsAre(0, 1, 2, 3, 0)) << "devices first, then workers";
}

TEST(Shards, TakeTurnsAtTheHelpers) {
  const Schedule schedule =
      build_schedule("pscpu", {.topology = {.worker_count = 2}, .shard_count = 2});
  std::vector<int> summing;
  for (const Step& step : schedule.rounds[0]) summing.push_back(step.to);
  EXPECT_THAT(summing, testing::ElementsAre(2, 3, 3, 2));
}

TEST(Shards, LeaveRootsAndOwnersWhereTheyAre) {
  const Schedule reduce = build_schedule(
      "ring",
      {.topology = {.worker_count = 3}, .goal = Goal::kReduce, .root = 2, .shard_count = 2});
  for (const Step& step : reduce.rounds.back()) EXPECT_EQ(step.to, 2);
}

}  // namespace
}  // namespace fanin
