#include "distribute/host_levels.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engines/host_ranks.h"

namespace fanin {
namespace {

constexpr std::string_view kRelay = "relay";

/// The ranks of each host, host after host.
struct Levels {
  int host_count = 0;
  std::vector<int> ranks = {};
  bool are_even = true;

  bool are_in_order() const { return std::ranges::is_sorted(ranks); }
  int ranks_of_each() const { return static_cast<int>(ranks.size()) / host_count; }
};

Levels levels_of(std::span<const int> hosts) {
  const std::vector<std::vector<int>> by_host = ranks_by_host(hosts);
  Levels levels{.host_count = static_cast<int>(by_host.size())};
  for (const std::vector<int>& ranks : by_host) {
    levels.ranks.insert(levels.ranks.end(), ranks.begin(), ranks.end());
    levels.are_even &= ranks.size() == by_host.front().size();
  }
  return levels;
}

/// Every rank is another one; of an all-reduce, whose ranks are all alike.
void rename(Schedule& schedule, std::span<const int> names) {
  const auto name_of = [&](int place) {
    return place < schedule.rank_count ? names[static_cast<std::size_t>(place)] : place;
  };
  for (Round& round : schedule.rounds)
    for (Step& step : round) {
      step.to = name_of(step.to);
      for (int& source : step.sources) source = name_of(source);
    }
}

}  // namespace

void check_algorithm(const std::string& name) {
  if (name != kAutomatic) canonical_algorithm(name);
}

std::string choose_algorithm(const Whereabouts& ranks, Goal goal, std::size_t bytes) {
  const Levels levels = levels_of(ranks.hosts);
  if (levels.host_count == 1) {
    const Levels cores = levels_of(ranks.cores);
    const bool share_cores = cores.are_even && cores.ranks_of_each() > 1;
    const bool is_long = goal == Goal::kAllReduce && bytes > AutomaticAlgorithms::kMostShortBytes;
    return std::string(share_cores && is_long ? kRelay : "direct");
  }
  if (!levels.are_even) return "ring";
  // Two hosts that exchange everything send as much as by a ring, with a hop less. Long data is in
  // more and shorter messages by a ring, of which more are under way.
  const bool exchange = levels.host_count == 2 && goal == Goal::kAllReduce &&
                        bytes <= AutomaticAlgorithms::kMostShortBytes;
  const std::string between = exchange ? "recursive_doubling" : "ring";
  return levels.ranks_of_each() > 1 ? "direct//" + between : between;
}

AutomaticAlgorithms choose_algorithms(const Whereabouts& ranks) {
  constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  return {.usual = choose_algorithm(ranks, Goal::kReduceScatter, 0),
          .short_all_reduce = choose_algorithm(ranks, Goal::kAllReduce, 0),
          .long_all_reduce = choose_algorithm(ranks, Goal::kAllReduce, kMany)};
}

const std::vector<int>& levels_for(const std::string& algorithm, const Whereabouts& ranks) {
  return algorithm == kRelay && levels_of(ranks.hosts).host_count == 1 ? ranks.cores : ranks.hosts;
}

Topology topology_for(const std::string& algorithm, std::span<const int> hosts) {
  const Levels levels = levels_of(hosts);
  const bool is_relay = algorithm == kRelay;
  const bool has_levels =
      (is_relay || (algorithm.find('/') != std::string::npos && levels.host_count > 1)) &&
      levels.are_even && levels.ranks_of_each() > 1;
  if (!has_levels) return {.worker_count = static_cast<int>(hosts.size())};
  return {levels.host_count, levels.ranks_of_each()};
}

Schedule build_for_hosts(const std::string& algorithm, std::span<const int> hosts, Goal goal,
                         std::optional<int> root) {
  const Levels levels = levels_of(hosts);
  Topology topology = topology_for(algorithm, hosts);
  bool renames = topology.devices_per_worker > 1 && !levels.are_in_order();
  // Of other goals each rank has a part of its own, so they cannot be renamed.
  if (renames && goal != Goal::kAllReduce) {
    topology = {.worker_count = static_cast<int>(hosts.size())};
    renames = false;
  }
  Schedule schedule = build_schedule(algorithm, {.topology = topology, .goal = goal, .root = root});
  if (renames) rename(schedule, levels.ranks);
  return schedule;
}

}  // namespace fanin
