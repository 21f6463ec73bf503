#include "fanin/algorithms.h"

#include <array>
#include <string>

#include "algorithms/all.h"
#include "algorithms/hierarchical.h"
#include "algorithms/shards.h"
#include "core/require.h"
#include "schedule/goal.h"
#include "schedule/reshape.h"

namespace fanin {
namespace {

constexpr std::array kAlgorithms = {
    Algorithm{.name = "direct",
              .spec_names = "nccl",
              .summary = "each rank sums its share of the data, all copy it; two rounds",
              .description = "Rank c reads chunk c of every rank and sums it in one step; then "
                             "everybody copies it from there. The fewest bytes in two rounds, "
                             "but every rank talks to every other: best where all see each "
                             "other's memory.",
              .paper = "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication "
                       "Operations in MPICH, 2005 (pairwise exchange)",
              .all_reduce = direct},
    Algorithm{.name = "ring",
              .spec_names = "xring",
              .summary = "chunks go around, twice; the least bytes, 2 (p - 1) rounds",
              .description = "Each chunk goes around once, every rank adding its own input, and "
                             "the sum goes around once more. The fewest bytes, and only between "
                             "neighbours, but many rounds: for large data.",
              .paper = "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters "
                       "of workstations, 2009",
              .all_reduce = ring},
    Algorithm{.name = "relay",
              .spec_names = "",
              .summary = "as the ring, in chunks that start at workers; the fewest crossings",
              .description = "One chunk starts at each worker and goes from device to device, "
                             "then to the next worker, every rank adding its own input; the sum "
                             "goes around the same way. Few chunks, and each crosses between "
                             "workers as seldom as it can: for ranks that share cores, where a "
                             "core's ranks pass it on in their cache.",
              .paper = "",
              .all_reduce = relay},
    Algorithm{.name = "halving_doubling",
              .spec_names = "rechd",
              .summary = "halves, quarters and so on are exchanged; 2 log2 p rounds",
              .description = "Ranks that differ in the highest bit of their number exchange "
                             "halves of the data and add, then quarters with the next bit, until "
                             "each has the sum of one part; the same way back collects the "
                             "parts. The fewest bytes in few rounds. Ranks beyond a power of two "
                             "are added to others first, and get the result at the end.",
              .paper = "Rabenseifner, Optimization of Collective Reduction Operations, 2004",
              .all_reduce = halving_doubling},
    Algorithm{.name = "recursive_doubling",
              .spec_names = "",
              .summary = "everything is exchanged log2 p times; for small data",
              .description =
                  "In each round, ranks that differ in one bit of their number exchange all that "
                  "they have, and both add. The fewest rounds in which a rank talks to one "
                  "other at a time, with all the data in each: for small data. Ranks beyond "
                  "a power of two are added to others first, and get the result at the end.",
              .paper = "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication "
                       "Operations in MPICH, 2005",
              .all_reduce = recursive_doubling},
    Algorithm{.name = "shuffle",
              .spec_names = "pscpu, psgpu",
              .summary = "helpers, one for each worker, sum a share each; two rounds",
              .description = "What parameter servers do: helpers, one for each worker, sum one "
                             "chunk each from the inputs of all ranks, and all ranks copy it "
                             "from there. The sum is made on the helpers, which may be CPUs, so "
                             "devices only send and receive.",
              .paper = "Li et al., Scaling Distributed Machine Learning with the Parameter "
                       "Server, 2014",
              .all_reduce = shuffle},
    Algorithm{.name = "double_tree",
              .spec_names = "",
              .summary = "two binary trees for half of the data each",
              .description = "Two binary trees over all ranks, each for half of the data. The "
                             "second is the mirror of the first, so that most ranks are leaves "
                             "of one and inner nodes of the other. Few rounds, also for many "
                             "ranks, and few messages.",
              .paper = "Sanders, Speck and Träff, Two-tree algorithms for full bandwidth "
                       "broadcast, reduction and scan, 2009",
              .all_reduce = double_tree},
    Algorithm{.name = "hierarchical_copy",
              .spec_names = "",
              .summary = "halves sum within, exchange once and copy within; three rounds",
              .description = "The ranks are two halves, as the devices of a machine with two "
                             "buses. For each chunk one rank of each half sums its own half, the "
                             "two exchange, and both halves copy from their own: only one round "
                             "crosses between the halves.",
              .paper = "",
              .all_reduce = hierarchical_copy},
    Algorithm{.name = "one_device",
              .spec_names = "",
              .summary = "rank 0 sums everything, all copy it; two rounds",
              .description = "Rank 0 sums the inputs of all in one step, and all copy the sum. "
                             "The fewest messages, and all of them at one rank: for few ranks, "
                             "or where one device is to hold the sum.",
              .paper = "",
              .all_reduce = one_device},
};

// Schedules are explicit lists of steps, quadratic in the ranks for some algorithms.
constexpr int kMostRanks = 2048;
constexpr int kMostShards = 1024;

bool has_spec_name(const Algorithm& algorithm, std::string_view name) {
  for (std::string_view rest = algorithm.spec_names; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    if (rest.substr(0, end) == name) return true;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return false;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::string known;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name == name || has_spec_name(algorithm, name)) return algorithm;
    known += (known.empty() ? "" : ", ") + std::string(algorithm.name);
    if (!algorithm.spec_names.empty()) known += fmt::format(" ({})", algorithm.spec_names);
  }
  throw InvalidArgument(
      ErrorKind::kBadSpec,
      fmt::format("there is no algorithm \"{}\"; known are: {}; and two of them for two levels, "
                  "as in direct/ring or direct//ring",
                  name, known));
}

/// A name taken apart: "a", "a/b" or "a//b".
struct Parts {
  std::string_view within;
  std::string_view separator;
  std::string_view across;
};

Parts take_apart(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {.within = name, .separator = "", .across = ""};
  const bool by_slices = name.substr(slash).starts_with("//");
  return {.within = name.substr(0, slash),
          .separator = by_slices ? "//" : "/",
          .across = name.substr(slash + (by_slices ? 2 : 1))};
}

Schedule all_reduce(std::string_view name, const Topology& topology) {
  const auto [within_name, separator, across_name] = take_apart(name);
  const Algorithm& within = find_algorithm(within_name);
  if (separator.empty()) return within.all_reduce(topology);
  const Schedule devices = within.all_reduce({.devices_per_worker = topology.devices_per_worker});
  const Schedule workers =
      find_algorithm(across_name).all_reduce({.worker_count = topology.worker_count});
  return prune(separator == "/" ? hierarchical_by_leader(topology, devices, workers)
                                : hierarchical_by_slices(topology, devices, workers));
}

}  // namespace

void check(const Topology& topology) {
  require(topology.worker_count >= 1 && topology.devices_per_worker >= 1, ErrorKind::kBadOption,
          "there must be at least 1 worker and 1 device, got {} workers with {} devices each",
          topology.worker_count, topology.devices_per_worker);
  require(topology.worker_count <= kMostRanks / topology.devices_per_worker, ErrorKind::kBadOption,
          "{} workers with {} devices each are more than {} ranks", topology.worker_count,
          topology.devices_per_worker, kMostRanks);
}

std::span<const Algorithm> algorithms() { return kAlgorithms; }

std::string canonical_algorithm(std::string_view name) {
  const auto [within, separator, across] = take_apart(name);
  std::string canonical(find_algorithm(within).name);
  if (!separator.empty()) canonical += fmt::format("{}{}", separator, find_algorithm(across).name);
  return canonical;
}

Schedule build_schedule(std::string_view algorithm, const Collective& collective) {
  const auto& [topology, goal, root, shard_count] = collective;
  const std::string canonical = canonical_algorithm(algorithm);
  check(topology);
  require(shard_count >= 1 && shard_count <= kMostShards, ErrorKind::kBadOption,
          "there must be 1 to {} shards, got {}", kMostShards, shard_count);
  require(!root || has_root(goal), ErrorKind::kBadOption,
          "the goal {} has no root, but root {} was given", name(goal), root.value_or(0));
  require(!root || (*root >= 0 && *root < topology.rank_count()), ErrorKind::kBadOption,
          "the root must be a rank from 0 to {}, got {}", topology.rank_count() - 1,
          root.value_or(0));
  return cut_into_shards(for_goal(all_reduce(canonical, topology), goal, root.value_or(0)),
                         topology, shard_count);
}

}  // namespace fanin
