#include "cli/trial/trials.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "fanin/algorithms.h"

namespace fanin::cli {
namespace {

constexpr int kRankCounts[] = {2, 3, 4, 5, 8};
constexpr std::uint64_t kSteps[] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};

/// Every algorithm, size and step, or some of them by lot.
std::vector<Scenario> list(const TrialSize& size, std::span<const Mischief> mischiefs,
                           std::size_t quick_count, double timeout_seconds,
                           std::chrono::milliseconds delay = std::chrono::milliseconds(50)) {
  std::mt19937_64 random(size.seed);
  std::vector<Scenario> scenarios;
  for (const Mischief mischief : mischiefs)
    for (const Algorithm& algorithm : algorithms())
      for (const int rank_count : kRankCounts)
        for (const std::uint64_t step : kSteps)
          scenarios.push_back(
              {.algorithm = std::string(algorithm.name),
               .size = rank_count,
               .culprit = static_cast<int>(random() % static_cast<std::uint64_t>(rank_count)),
               .plan = {.mischief = mischief, .step = step, .delay = delay, .seed = random()},
               .timeout_seconds = timeout_seconds,
               .is_registered = random() % 2 == 0});
  if (!size.is_quick) return scenarios;
  std::ranges::shuffle(scenarios, random);
  scenarios.resize(std::min(scenarios.size(), quick_count));
  return scenarios;
}

constexpr double kDeathTimeout = 5;
constexpr double kStopTimeout = 0.5;

std::vector<Scenario> kills(const TrialSize& size) {
  return list(size, std::array{Mischief::kDie}, 60, kDeathTimeout);
}

std::vector<Scenario> stops(const TrialSize& size) {
  return list(size, std::array{Mischief::kStop}, 12, kStopTimeout);
}

/// Shorter than the deadline, and longer.
std::vector<Scenario> sleeps(const TrialSize& size) {
  std::vector<Scenario> scenarios =
      list(size, std::array{Mischief::kDelay}, 10, kDeathTimeout, std::chrono::milliseconds(100));
  const std::vector<Scenario> longer =
      list(size, std::array{Mischief::kDelay}, 8, kStopTimeout, std::chrono::milliseconds(800));
  scenarios.insert(scenarios.end(), longer.begin(), longer.end());
  return scenarios;
}

std::vector<Scenario> hostiles(const TrialSize& size) {
  return list(size,
              std::array{Mischief::kDie, Mischief::kDelay, Mischief::kDrop, Mischief::kFlip,
                         Mischief::kTruncate},
              30, kStopTimeout);
}

template <std::vector<Scenario> (*List)(const TrialSize&)>
std::size_t count(const TrialSize& size) {
  return List(size).size();
}

template <std::vector<Scenario> (*List)(const TrialSize&)>
void run(const TrialSize& size, Figures& figures, Progress& progress) {
  for (const Scenario& scenario : List(size)) {
    progress.start(describe(scenario));
    run_scenario(scenario, figures);
    progress.add(1);
  }
}

constexpr std::array kTrials = {
    TrialKind{"kill", "a process is killed at a step; the others are told, and go on without it",
              count<kills>, run<kills>},
    TrialKind{"stop", "a process is stopped at a step beyond the deadline, and goes on later",
              count<stops>, run<stops>},
    TrialKind{"sleep", "a process is late, by less and by more than the deadline", count<sleeps>,
              run<sleeps>},
    TrialKind{"mismatch", "one process asks for something else than the others", count_mismatches,
              run_mismatches},
    TrialKind{"stranger", "others come to the rendezvous who do not belong to the job",
              count_strangers, run_strangers},
    TrialKind{"storm", "many starts and stops, two jobs at once", count_storm, run_storm},
    TrialKind{"hostile", "messages are lost, late, damaged or cut short", count<hostiles>,
              run<hostiles>},
};

}  // namespace

std::span<const TrialKind> trials() { return kTrials; }

}  // namespace fanin::cli
