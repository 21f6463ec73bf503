// Direct all-reduce: the data is cut into as many chunks as there are ranks; rank c reads chunk c
// of every rank and sums it in one step, then everybody copies it from there. Two rounds, and the
// fewest bytes where all ranks see each other's memory. Also known as two-shot or scatter-gather;
// compare Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
// MPICH" (2005), section on pairwise exchange.

#include "algorithms/all.h"
#include "algorithms/rank_list.h"

namespace fanin {

Schedule direct(const Topology& topology) {
  const int rank_count = topology.rank_count();
  Schedule schedule{.name = "direct", .rank_count = rank_count, .chunk_count = rank_count};
  if (rank_count == 1) return schedule;

  const std::vector<int> all = rank_list(0, rank_count);
  Round sum, copy;
  copy.reserve(all.size() * (all.size() - 1));
  for (int chunk = 0; chunk < rank_count; ++chunk) {
    const Chunks chunks{chunk, chunk + 1};
    sum.push_back({chunk, chunks, all});
    for (int rank = 0; rank < rank_count; ++rank)
      if (rank != chunk) copy.push_back({rank, chunks, {chunk}});
  }
  schedule.rounds = {std::move(sum), std::move(copy)};
  return schedule;
}

}  // namespace fanin
