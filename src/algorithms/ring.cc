// Ring all-reduce: the data is cut into as many chunks as there are ranks. Chunk c starts
// behind rank c and goes around once, each rank adding its own part; when rank c has added, the sum
// goes around once more. Each
// rank sends and receives 2 (p - 1) / p of the data, the least that is possible, in 2 (p - 1)
// rounds. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations" (2009).

#include "algorithms/all.h"

namespace fanin {

Schedule ring(const Topology& topology) {
  const int rank_count = topology.rank_count();
  Schedule schedule{.name = "ring", .rank_count = rank_count, .chunk_count = rank_count};
  for (int hop = 1; hop < 2 * rank_count - 1; ++hop) {
    Round round;
    round.reserve(static_cast<std::size_t>(rank_count));
    for (int chunk = 0; chunk < rank_count; ++chunk) {
      const int from = (chunk + hop) % rank_count;
      const int to = (chunk + hop + 1) % rank_count;
      const bool adds = hop < rank_count;
      round.push_back({to, {chunk, chunk + 1}, adds ? PlaceList{from, to} : PlaceList{from}});
    }
    schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

}  // namespace fanin
