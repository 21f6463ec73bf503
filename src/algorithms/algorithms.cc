#include "fanin/algorithms.h"

#include <array>
#include <string>

#include "core/require.h"

namespace fanin {
namespace {

constexpr std::array kAlgorithms = {
    Algorithm{"direct", "each rank sums its share of the data, all copy it; two rounds",
              direct_all_reduce},
    Algorithm{"ring", "chunks go around, twice; the least bytes, 2 (p - 1) rounds",
              ring_all_reduce},
    Algorithm{"halving_doubling", "halves, quarters and so on are exchanged; 2 log2 p rounds",
              halving_doubling_all_reduce},
    Algorithm{"recursive_doubling", "everything is exchanged log2 p times; for small data",
              recursive_doubling_all_reduce},
    Algorithm{"shuffle", "helpers, one for each worker, sum a share each; two rounds",
              shuffle_all_reduce},
    Algorithm{"double_tree", "two binary trees for half of the data each", double_tree_all_reduce},
    Algorithm{"hierarchical_copy", "halves sum within, exchange once and copy within; three rounds",
              hierarchical_copy_all_reduce},
    Algorithm{"one_device", "rank 0 sums everything, all copy it; two rounds",
              one_device_all_reduce},
};

// Schedules are explicit lists of steps, quadratic in the ranks for some algorithms.
constexpr int kMostRanks = 2048;

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

const Algorithm& find_algorithm(std::string_view name) {
  std::string known;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name == name) return algorithm;
    known += (known.empty() ? "" : ", ") + std::string(algorithm.name);
  }
  throw InvalidArgument(ErrorKind::kBadSpec,
                        fmt::format("there is no algorithm \"{}\"; known are: {}", name, known));
}

}  // namespace fanin
