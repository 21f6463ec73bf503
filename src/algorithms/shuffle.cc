// Shuffle all-reduce, which is what parameter servers do: helpers, one for each worker, sum one
// chunk each from the inputs of all ranks, and all ranks copy it from there. Two rounds. Li et al.,
// "Scaling Distributed Machine Learning with the Parameter Server" (2014).

#include "algorithms/all.h"
#include "algorithms/rank_list.h"
#include "schedule/reshape.h"

namespace fanin {

Schedule shuffle(const Topology& topology) {
  const int rank_count = topology.rank_count();
  const int helper_count = topology.worker_count;
  Schedule schedule{.name = "shuffle",
                    .rank_count = rank_count,
                    .helper_count = helper_count,
                    .chunk_count = helper_count};
  const std::vector<int> all = rank_list(0, rank_count);
  Round sum, copy;
  for (int chunk = 0; chunk < helper_count; ++chunk) {
    const int helper = rank_count + chunk;
    sum.push_back({helper, {chunk, chunk + 1}, all});
    for (int rank = 0; rank < rank_count; ++rank)
      copy.push_back({rank, {chunk, chunk + 1}, {helper}});
  }
  schedule.rounds = {std::move(sum), std::move(copy)};
  return rank_count == 1 ? prune(schedule) : schedule;  // one rank needs no helper
}

}  // namespace fanin
