#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "fanin/algorithms.h"

namespace fanin {

/// What AllReduceOptions::algorithm stands for when it is kAutomatic: direct within one host; else
/// what crosses the wires between hosts least, and of such, for data so short, the one with the
/// fewest hops.
inline constexpr std::string_view kAutomatic = "auto";
std::string choose_algorithm(std::span<const int> hosts, Goal goal, std::size_t bytes);

/// The same, chosen once.
struct AutomaticAlgorithms {
  std::string usual;
  std::optional<std::string> short_all_reduce = std::nullopt;  // if it is another one

  /// For an all-reduce of up to so many bytes.
  static constexpr std::size_t kMostShortBytes = 256 << 10;
};
AutomaticAlgorithms choose_algorithms(std::span<const int> hosts);

/// Throws InvalidArgument (kBadSpec) unless it is an algorithm or kAutomatic.
void check_algorithm(const std::string& name);

/// How an algorithm sees ranks that are spread over hosts: the levels of "a/b" and "a//b" are the
/// hosts, if all have as many ranks, more than one; others know of no hosts.
Topology topology_for(const std::string& algorithm, std::span<const int> hosts);

/// The schedule of ranks that are spread over hosts; for each rank the lowest rank on the same one.
/// The two levels of "a/b" and "a//b" are the hosts, if all have as many ranks; other algorithms
/// know of no hosts, so that their sums have the same order everywhere. Throws as build_schedule().
Schedule build_for_hosts(const std::string& algorithm, std::span<const int> hosts, Goal goal,
                         std::optional<int> root);

}  // namespace fanin
