// Every algorithm, for every goal, 1 to 33 ranks, any length and 1 to 4 shards, on real data,
// against whole numbers that are summed one by one.

#include <gmock/gmock.h>

#include <algorithm>
#include <tuple>

#include "executor/trial.h"
#include "fanin/algorithms.h"
#include "schedule/goal.h"

namespace fanin {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMostRanks = 9;  // what they look for is there with few ranks, and takes less time
#else
constexpr int kMostRanks = 33;
#endif
// All-to-all has a chunk for each pair of ranks.
constexpr int kMostRanksForPairs = 12;
constexpr DType kDTypes[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
                             DType::kInt8,    DType::kInt16,    DType::kInt32,   DType::kUInt8,
                             DType::kUInt16,  DType::kUInt32,   DType::kUInt64};

class EveryCollective : public testing::TestWithParam<std::tuple<std::string, Goal>> {
 protected:
  static void expect_right(const Schedule& schedule, const Trial::Options& options) {
    Trial trial(schedule, options, Context::process());
    trial.run();
    ASSERT_EQ(trial.find_wrong(), std::nullopt)
        << name(schedule.goal) << " by " << schedule.name << " with " << schedule.rank_count
        << " ranks, " << options.element_count << " elements of " << name(options.dtype)
        << (options.lowering == Lowering::kLiteral ? ", literal" : "");
  }
};

/// Short lengths, where most chunks are empty, and one where none is.
std::vector<std::size_t> lengths_for(const Schedule& schedule) {
  const auto ranks = static_cast<std::size_t>(schedule.rank_count);
  const auto lines = static_cast<std::size_t>(schedule.chunk_count) * 8 + 3;
  if (ranks > 5) return {0, 1, ranks - 1, ranks + 1, 3 * ranks + 1, lines};
  std::vector<std::size_t> all = {lines};
  for (std::size_t length = 0; length <= 3 * ranks + 1; ++length) all.push_back(length);
  return all;
}

/// Two levels where the ranks can be devices of workers.
Topology topology_of(int ranks, const std::string& algorithm) {
  const bool has_levels = algorithm.find('/') != std::string::npos;
  for (const int devices : {4, 3, 2})
    if (has_levels && ranks % devices == 0)
      return {.worker_count = ranks / devices, .devices_per_worker = devices};
  return {.worker_count = ranks};
}

TEST_P(EveryCollective, GivesEveryRankWhatItWants) {
  const auto& [algorithm, goal] = GetParam();
  const int most = goal == Goal::kAllToAll ? std::min(kMostRanks, kMostRanksForPairs) : kMostRanks;
  for (int ranks = 1; ranks <= most; ++ranks) {
    Collective collective{.topology = topology_of(ranks, algorithm), .goal = goal};
    if (has_root(goal)) collective.root = ranks / 2;
    collective.shard_count = 1 + ranks % 4;
    const Schedule schedule = build_schedule(algorithm, collective);
    std::size_t turn = static_cast<std::size_t>(ranks);
    for (const std::size_t length : lengths_for(schedule)) {
      const auto lowering = ++turn % 2 == 0 ? Lowering::kFused : Lowering::kLiteral;
      expect_right(schedule,
                   {.element_count = length, .dtype = DType::kInt64, .lowering = lowering});
      if (HasFatalFailure()) return;
      if (length == 1 || length == static_cast<std::size_t>(3 * ranks + 1))
        expect_right(schedule,
                     {.element_count = length, .dtype = kDTypes[turn % std::size(kDTypes)]});
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all = {"direct/ring", "direct//ring", "pscpu/pscpu", "rechd//xring"};
  for (const Algorithm& algorithm : algorithms()) all.emplace_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryCollective,
    testing::Combine(testing::ValuesIn(names()),
                     testing::ValuesIn(all_goals().begin(), all_goals().end())),
    [](const auto& each) {
      std::string label =
          std::get<0>(each.param) + "_" + std::string(name(std::get<1>(each.param)));
      for (std::size_t at = 0; (at = label.find('/', at)) != std::string::npos;)
        label.replace(at, 1, "_over");
      return label;
    });

}  // namespace
}  // namespace fanin
