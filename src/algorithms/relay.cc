// Relay: the data is cut into as many chunks as there are workers. Chunk c starts at the first
// device of worker c and goes from device to device and from worker to worker until all have added
// their own part; then the sum goes the same way around. A ring whose chunks start at workers
// instead of at ranks: each crosses between workers as seldom as it can, and on its way there stays
// in what the devices of a worker share. With one device to a worker it is the ring.

#include "algorithms/all.h"

namespace fanin {

Schedule relay(const Topology& topology) {
  const int rank_count = topology.rank_count();
  Schedule schedule{
      .name = "relay", .rank_count = rank_count, .chunk_count = topology.worker_count};
  for (int hop = 0; hop < 2 * rank_count - 2; ++hop) {
    Round round;
    round.reserve(static_cast<std::size_t>(topology.worker_count));
    for (int chunk = 0; chunk < topology.worker_count; ++chunk) {
      const int from = (chunk * topology.devices_per_worker + hop) % rank_count;
      const int to = (from + 1) % rank_count;
      const bool adds = hop < rank_count - 1;
      round.push_back({to, {chunk, chunk + 1}, adds ? PlaceList{from, to} : PlaceList{from}});
    }
    schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

}  // namespace fanin
