// Hierarchical copy: the ranks are two halves, as the devices of a machine with two buses. For each
// chunk one rank of each half sums its own half, the two exchange, and both halves copy from their
// own. Three rounds, of which only one crosses between the halves. What HierarchicalCopyAllReduce
// does, for any number of ranks.

#include "algorithms/all.h"
#include "algorithms/rank_list.h"
#include "schedule/reshape.h"

namespace fanin {

Schedule hierarchical_copy(const Topology& topology) {
  const int rank_count = topology.rank_count();
  const int lower_count = (rank_count + 1) / 2;
  const int upper_count = rank_count - lower_count;
  Schedule schedule{
      .name = "hierarchical_copy", .rank_count = rank_count, .chunk_count = rank_count};
  if (rank_count == 1) return schedule;

  Round sum, cross, copy;
  for (int chunk = 0; chunk < rank_count; ++chunk) {
    const Chunks chunks{chunk, chunk + 1};
    const int lower = chunk % lower_count;
    const int upper = lower_count + chunk % upper_count;
    sum.push_back({lower, chunks, rank_list(0, lower_count)});
    sum.push_back({upper, chunks, rank_list(lower_count, rank_count)});
    for (const int to : {lower, upper}) cross.push_back({to, chunks, {lower, upper}});
    for (int rank = 0; rank < rank_count; ++rank) {
      const int from = rank < lower_count ? lower : upper;
      if (rank != from) copy.push_back({rank, chunks, {from}});
    }
  }
  schedule.rounds = {std::move(sum), std::move(cross)};
  if (!copy.empty()) schedule.rounds.push_back(std::move(copy));
  return prune(schedule);  // a half of one rank has nothing to sum
}

}  // namespace fanin
