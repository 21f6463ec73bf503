#include <fmt/core.h>

#include "cli/selftest/checks.h"
#include "executor/trial.h"
#include "fanin/algorithms.h"

namespace fanin::cli {
namespace {

constexpr std::size_t kReplicaSizes[] = {0, 1, 1000, 300'007};

}  // namespace

Tally check_replicas(int rank_count) {
  Tally tally;
  for (const Algorithm& algorithm : algorithms()) {
    const Schedule schedule =
        build_schedule(algorithm.name, {.topology = {.devices_per_worker = rank_count}});
    for (const std::size_t count : kReplicaSizes) {
      Trial trial(schedule, {.element_count = count}, Context::process());
      trial.run();
      const std::optional<std::string> wrong = trial.find_wrong();
      tally.count(!wrong, fmt::format("{} of {} replicas, {} elements: {}", algorithm.name,
                                      rank_count, count, wrong.value_or("right")));
    }
  }
  return tally;
}

}  // namespace fanin::cli
