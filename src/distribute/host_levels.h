#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fanin/algorithms.h"

namespace fanin {

/// Where ranks are: for each the lowest rank on the same host, and the lowest that stays on the
/// same core.
struct Whereabouts {
  std::vector<int> hosts;
  std::vector<int> cores;
};

/// What AllReduceOptions::algorithm stands for when it is kAutomatic. Within one host direct, but
/// for long data of ranks that share cores, as many on each, what crosses between these least; else
/// what crosses the wires between hosts least, and of such, for data so short, the one with the
/// fewest hops.
inline constexpr std::string_view kAutomatic = "auto";
std::string choose_algorithm(const Whereabouts& ranks, Goal goal, std::size_t bytes);

/// The same, chosen once.
struct AutomaticAlgorithms {
  std::string usual;
  std::string short_all_reduce = usual;
  std::string long_all_reduce = usual;

  /// For an all-reduce of up to so many bytes.
  static constexpr std::size_t kMostShortBytes = 256 << 10;
};
AutomaticAlgorithms choose_algorithms(const Whereabouts& ranks);

/// The levels that an algorithm goes by: hosts, but for relay within one host its cores.
const std::vector<int>& levels_for(const std::string& algorithm, const Whereabouts& ranks);

/// Throws InvalidArgument (kBadSpec) unless it is an algorithm or kAutomatic.
void check_algorithm(const std::string& name);

/// How an algorithm sees ranks that are spread over hosts, or cores: these are the two levels of
/// "a/b" and "a//b", and the workers of relay, if all have as many ranks, more than one; others
/// know of none.
Topology topology_for(const std::string& algorithm, std::span<const int> hosts);

/// The schedule of ranks that are spread over hosts, or cores; for each rank the lowest rank on the
/// same one. Algorithms that know of none have sums of the same order everywhere. Throws as
/// build_schedule().
Schedule build_for_hosts(const std::string& algorithm, std::span<const int> hosts, Goal goal,
                         std::optional<int> root);

}  // namespace fanin
