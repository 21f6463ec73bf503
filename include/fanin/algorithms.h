#pragma once

#include <span>
#include <string_view>

#include "fanin/schedule.h"

namespace fanin {

/// Who takes part: `worker_count` processes with `devices_per_worker` ranks each, worker after
/// worker.
struct Topology {
  int worker_count = 1;
  int devices_per_worker = 1;

  int rank_count() const { return worker_count * devices_per_worker; }
};

/// Throws InvalidArgument (kBadOption) unless both counts are at least 1 and give at most 2048
/// ranks.
void check(const Topology& topology);

/// A way to all-reduce: from a topology to a schedule, for any number of ranks.
struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< one line for people
  Schedule (*build)(const Topology& topology);
};

/// All of them. A new one is a file and a line in this table.
std::span<const Algorithm> algorithms();

/// Throws InvalidArgument (kBadSpec) and lists the names if there is none of this name.
const Algorithm& find_algorithm(std::string_view name);

/// Rank c sums chunk c of all ranks, then every rank copies it from there.
Schedule direct_all_reduce(const Topology& topology);

/// Each chunk goes around the ring of ranks, and is added to on the way; then once more.
Schedule ring_all_reduce(const Topology& topology);

/// Ranks exchange halves, quarters and so on with partners at half the distance, and back.
Schedule halving_doubling_all_reduce(const Topology& topology);

/// Ranks exchange everything with partners at twice the distance.
Schedule recursive_doubling_all_reduce(const Topology& topology);

/// Helpers, one for each worker, sum one chunk each.
Schedule shuffle_all_reduce(const Topology& topology);

/// Two binary trees, each for half of the data.
Schedule double_tree_all_reduce(const Topology& topology);

/// Two halves of the ranks sum within, exchange once, and copy within.
Schedule hierarchical_copy_all_reduce(const Topology& topology);

/// Rank 0 sums everything.
Schedule one_device_all_reduce(const Topology& topology);

}  // namespace fanin
