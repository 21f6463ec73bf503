#include "cli/compare/recommend_training.h"

#include <gmock/gmock.h>

#include "fanin/error.h"

namespace fanin::cli {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

training::StepTimes step_of(int whole_ms) {
  training::StepTimes times;
  times.whole = milliseconds(whole_ms);
  times.step_count = 1;
  return times;
}

/// Rounds of these milliseconds, the fastest first.
TrainingMeasurement measured(const std::string& spec, const std::vector<int>& rounds,
                             std::size_t peak_bytes = 100) {
  TrainingMeasurement measurement;
  measurement.way.label = spec;
  measurement.way.spec = AllReduceSpec(spec);
  measurement.report.transport = "in-process";
  for (const int round : rounds) measurement.rounds.push_back(step_of(round));
  measurement.peak_bytes = peak_bytes;
  return measurement;
}

TEST(RecommendTraining, TakesTheFastestIfItAlwaysWas) {
  const auto advice = recommend({measured("nccl", {20, 21, 25}), measured("xring", {10, 11, 19}),
                                 measured("rechd", {30, 33, 40})});
  EXPECT_EQ(advice.way, 1U);
  EXPECT_EQ(advice.reason,
            "The fastest in every round, 11 ms a step; the slowest, rechd, takes 3.00 times as "
            "long.");
}

TEST(RecommendTraining, TakesTheUsualWayWhereAllAreEquallyFast) {
  const auto advice =
      recommend({measured("nccl", {98, 100, 103}), measured("pscpu/pscpu#2", {102, 104, 106}),
                 measured("xring", {99, 101, 104})});
  EXPECT_EQ(advice.way, 1U);
  EXPECT_EQ(advice.reason,
            "All 3 ways are within 4 % of each other, and their rounds overlap: on one host the "
            "name of an algorithm decides only the order of the sum; this one is taken unless told "
            "otherwise.");
}

TEST(RecommendTraining, BlamesNoNamesWhereOnlyMethodsDiffer) {
  auto tree = measured("pscpu/pscpu#2", {99, 101});
  tree.way.method = AggregationMethod::kExperimentalTree;
  EXPECT_THAT(recommend({measured("pscpu/pscpu#2", {100, 101}), tree}).reason,
              Not(HasSubstr("on one host")));
  auto far = measured("nccl", {100, 101});
  far.report.transport = "mpi";
  EXPECT_THAT(recommend({far, measured("xring", {99, 101})}).reason, Not(HasSubstr("on one host")));
}

TEST(RecommendTraining, DoesNotMakeMuchOfDisturbedRounds) {
  const auto advice =
      recommend({measured("nccl", {50, 100, 300}), measured("xring", {70, 180, 190})});
  EXPECT_EQ(advice.way, 0U);
  EXPECT_EQ(advice.reason,
            "The medians of the 2 ways differ by up to 80 %, but their rounds overlap: more rounds "
            "or a quieter machine would tell them apart; this one was the fastest.");
  EXPECT_EQ(
      recommend({measured("nccl", {50, 100, 300}), measured("pscpu/pscpu#2", {70, 180, 190})}).way,
      1U);
}

TEST(RecommendTraining, SaysWhoIsSlower) {
  const auto advice = recommend({measured("nccl", {10, 10, 12}), measured("rechd", {30, 30, 30}),
                                 measured("xring", {11, 13, 14})});
  EXPECT_EQ(advice.way, 0U);
  EXPECT_EQ(advice.reason,
            "nccl, xring are equally fast within the spread of their rounds, 10 ms a step; this "
            "one was the fastest; the slowest, rechd, takes 3.00 times as long.");
}

TEST(RecommendTraining, DoesNotTakeTheUsualWayWhereItSeemsSlow) {
  EXPECT_EQ(recommend({measured("nccl", {9, 10, 15}), measured("pscpu/pscpu#2", {12, 13, 14}),
                       measured("xring", {30, 30, 30})})
                .way,
            0U);
}

TEST(RecommendTraining, PrefersMuchLessMemoryAmongEquals) {
  const auto advice = recommend({measured("pscpu/pscpu#2", {10, 11}, 1000),
                                 measured("xring", {10, 11}, 500), measured("nccl", {20, 21}, 10)});
  EXPECT_EQ(advice.way, 1U);
  EXPECT_THAT(advice.reason, HasSubstr("; this one holds the least, 500 B, where pscpu/pscpu#2 "
                                       "holds 1 kB; the slowest, nccl, "));
}

TEST(RecommendTraining, TrustsNoSingleRound) {
  const auto advice = recommend({measured("nccl", {10}), measured("xring", {9})});
  EXPECT_EQ(advice.way, 1U);
  EXPECT_EQ(advice.reason,
            "The fastest of a single round, 9 ms a step; how much of that is chance only more "
            "rounds can tell.");
}

TEST(MiddleHalf, LeavesOutTheFastestAndTheSlowest) {
  const auto milliseconds_of = [](const training::StepTimes& times) {
    return std::pair(times.whole / milliseconds(1), times.step_count);
  };
  EXPECT_EQ(milliseconds_of(middle_half({step_of(900), step_of(3), step_of(1), step_of(2)})),
            std::pair(5L, 2));
  EXPECT_EQ(milliseconds_of(middle_half({step_of(7)})), std::pair(7L, 1));
}

TEST(MeasureTrainings, TakesTurnsAndRefusesOtherWeights) {
  const std::vector<TrainingWay> ways = {{.label = "a"}, {.label = "b"}};
  std::vector<std::int64_t> packs;
  std::uint64_t hash = 7;
  std::string turns;
  const TrainOnce train_once = [&](const training::TrainOptions& options,
                                   const training::OnStep& on_step) {
    packs.push_back(options.bytes_per_pack);
    training::TrainReport report;
    report.plan.request.packing.bytes_per_pack = 4096;
    report.final_hash = hash;
    report.peak_bytes = packs.size();
    on_step({.epoch = 0, .step = 1, .step_count = 1, .score = {}, .times = step_of(3)});
    return report;
  };
  training::TrainOptions options;
  options.bytes_per_pack = 0;
  const auto all = measure_trainings(ways, options, 2, train_once, [&](const TrainingNews& news) {
    turns += news.way.label + std::to_string(news.round);
  });
  EXPECT_EQ(turns, "a0b0a1b1");
  EXPECT_THAT(packs, testing::ElementsAre(0, 4096, 4096, 4096));
  EXPECT_EQ(all[1].peak_bytes, 4U);
  EXPECT_EQ(all[1].rounds.size(), 2U);
  EXPECT_THROW(measure_trainings(ways, options, 2, train_once,
                                 [&](const TrainingNews& news) { hash += news.way.label == "b"; }),
               Unavailable);
}

}  // namespace
}  // namespace fanin::cli
