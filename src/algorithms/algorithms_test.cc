#include "fanin/algorithms.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "fanin/error.h"
#include "schedule/memory_program.h"
#include "schedule/window_program.h"

namespace fanin {
namespace {

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, GivesEachRankEachInputOnceInOneOrder) {
  for (int ranks = 1; ranks <= 33; ++ranks)
    EXPECT_EQ(find_error(GetParam().build({.worker_count = ranks})), std::nullopt)
        << "ranks=" << ranks;
}

TEST_P(EveryAlgorithm, IsLoweredToWhatItSays) {
  for (int ranks = 1; ranks <= 33; ++ranks) {
    const Schedule schedule = GetParam().build({.worker_count = ranks});
    for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
      for (const Outputs outputs : {Outputs::kSeparate, Outputs::kShared})
        ASSERT_EQ(find_error(lower_to_memory(schedule, chunk, outputs), schedule, chunk, outputs),
                  std::nullopt)
            << "ranks=" << ranks;
    ASSERT_EQ(find_error(lower_to_window(schedule), schedule), std::nullopt) << "ranks=" << ranks;
  }
}

TEST_P(EveryAlgorithm, IsTheOneOfItsGoldenFile) {
  const std::string path =
      std::string(FANIN_GOLDEN_FOLDER) + "/" + std::string(GetParam().name) + "_3.schedule";
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(to_text(GetParam().build({.worker_count = 3})), golden.str())
      << "made by: fanin schedule " << GetParam().name << " --workers 3 --text";
}

TEST_P(EveryAlgorithm, RefusesATopologyOfNothing) {
  for (const Topology topology : {Topology{0, 1}, Topology{1, 0}, Topology{-1, -1}})
    EXPECT_THROW(GetParam().build(topology), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(InTheTable, EveryAlgorithm,
                         testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(FindAlgorithm, ListsTheNamesWhenThereIsNone) {
  try {
    find_algorithm("rnig");
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
