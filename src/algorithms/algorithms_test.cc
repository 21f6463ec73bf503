#include "fanin/algorithms.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "fanin/error.h"
#include "schedule/goal.h"
#include "schedule/memory_program.h"
#include "schedule/message_program.h"
#include "schedule/window_program.h"

namespace fanin {
namespace {

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, GivesEachRankEachInputOnceInOneOrder) {
  for (int ranks = 1; ranks <= 33; ++ranks)
    EXPECT_EQ(find_error(build_schedule(GetParam().name, {.topology = {.worker_count = ranks}})),
              std::nullopt)
        << "ranks=" << ranks;
}

TEST_P(EveryAlgorithm, IsLoweredToWhatItSays) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const Schedule schedule =
        build_schedule(GetParam().name, {.topology = {.worker_count = ranks}});
    for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
      for (const Outputs outputs : {Outputs::kSeparate, Outputs::kShared})
        for (const std::size_t most_nested : {0, 17})
          ASSERT_EQ(find_error(lower_to_memory(schedule, chunk, outputs, most_nested), schedule,
                               chunk, outputs),
                    std::nullopt)
              << "ranks=" << ranks;
    ASSERT_EQ(find_error(lower_to_window(schedule), schedule), std::nullopt) << "ranks=" << ranks;
    ASSERT_EQ(find_error(lower_to_pads(schedule), schedule), std::nullopt) << "ranks=" << ranks;
  }
}

TEST_P(EveryAlgorithm, NeedsEachOfItsSteps) {
  for (const Goal goal : all_goals()) {
    for (const int ranks : {1, 2, 3, 4, 5, 8}) {
      const Schedule schedule =
          build_schedule(GetParam().name, {.topology = {.worker_count = ranks}, .goal = goal});
      for (std::size_t round = 0; round < schedule.rounds.size(); ++round) {
        for (std::size_t step = 0; step < schedule.rounds[round].size(); ++step) {
          Schedule without = schedule;
          Round& steps = without.rounds[round];
          steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(step));
          ASSERT_NE(find_error(without), std::nullopt)
              << "step " << step << " of round " << round << " is not needed in\n"
              << to_text(schedule);
        }
      }
    }
  }
}

TEST_P(EveryAlgorithm, IsLoweredToMessagesForEveryGoal) {
  for (int ranks = 1; ranks <= 17; ++ranks)
    for (const Goal goal : all_goals()) {
      const Schedule schedule = build_schedule(
          GetParam().name,
          {.topology = {.worker_count = ranks}, .goal = goal, .shard_count = ranks % 3 + 1});
      ASSERT_EQ(find_error(lower_to_messages(schedule), schedule), std::nullopt)
          << name(goal) << " ranks=" << ranks;
    }
}

TEST_P(EveryAlgorithm, IsLoweredToWindowsForEveryGoalAndRoot) {
  for (int ranks = 1; ranks <= 12; ++ranks)
    for (const Goal goal : all_goals())
      for (const int root : {0, ranks / 2, ranks - 1}) {
        if (root > 0 && !has_root(goal)) continue;
        const Schedule schedule = build_schedule(
            GetParam().name, {.topology = {.worker_count = ranks},
                              .goal = goal,
                              .root = has_root(goal) ? std::optional(root) : std::nullopt});
        ASSERT_EQ(find_error(schedule), std::nullopt) << name(goal) << " ranks=" << ranks;
        ASSERT_EQ(find_error(lower_to_window(schedule), schedule), std::nullopt)
            << name(goal) << " ranks=" << ranks << " root=" << root;
        ASSERT_EQ(find_error(lower_to_pads(schedule), schedule), std::nullopt)
            << name(goal) << " ranks=" << ranks << " root=" << root;
      }
}

TEST_P(EveryAlgorithm, IsTheOneOfItsGoldenFile) {
  const std::string path =
      std::string(FANIN_GOLDEN_FOLDER) + "/" + std::string(GetParam().name) + "_3.schedule";
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(to_text(build_schedule(GetParam().name, {.topology = {.worker_count = 3}})),
            golden.str())
      << "made by: fanin schedule " << GetParam().name << " --workers 3 --text";
}

TEST_P(EveryAlgorithm, RefusesATopologyOfNothing) {
  for (const Topology topology : {Topology{0, 1}, Topology{1, 0}, Topology{-1, -1}})
    EXPECT_THROW(build_schedule(GetParam().name, {.topology = topology}), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(InTheTable, EveryAlgorithm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(TwoLevels, AreLoweredToMessagesForEveryGoal) {
  for (const std::string_view algorithm :
       {"direct/ring", "direct//ring", "shuffle/shuffle", "halving_doubling//double_tree"})
    for (const Topology topology : {Topology{2, 2}, Topology{3, 4}, Topology{5, 3}, Topology{1, 7}})
      for (const Goal goal : all_goals()) {
        const Schedule schedule = build_schedule(algorithm, {.topology = topology, .goal = goal});
        ASSERT_EQ(find_error(lower_to_messages(schedule), schedule), std::nullopt)
            << name(goal) << " by " << algorithm;
      }
}

TEST(FindAlgorithm, ListsTheNamesWhenThereIsNone) {
  try {
    canonical_algorithm("rnig");
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSpec);
    EXPECT_THAT(error.what(),
                testing::HasSubstr("there is no algorithm \"rnig\"; known are: direct"));
  }
}

TEST(Topology, RefusesMoreRanksThanASchedulesListHoldsSteps) {
  EXPECT_THROW(check(Topology{2048, 2}), InvalidArgument);
  EXPECT_NO_THROW(check(Topology{64, 8}));
}

}  // namespace
}  // namespace fanin
