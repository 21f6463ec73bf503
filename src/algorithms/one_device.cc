// All-reduce through one rank: it sums the inputs of all in one step, and all copy the sum. The
// fewest steps, and all the bytes on one link. What ReductionToOneDevice does.

#include "algorithms/all.h"
#include "algorithms/rank_list.h"

namespace fanin {

Schedule one_device(const Topology& topology) {
  const int rank_count = topology.rank_count();
  Schedule schedule{.name = "one_device", .rank_count = rank_count, .chunk_count = 1};
  if (rank_count == 1) return schedule;

  const std::vector<int> all = rank_list(0, rank_count);
  Round copy;
  for (int rank = 1; rank < rank_count; ++rank) copy.push_back({rank, {0, 1}, {0}});
  schedule.rounds = {{{0, {0, 1}, all}}, std::move(copy)};
  return schedule;
}

}  // namespace fanin
