#include "algorithms/hierarchical.h"

#include <numeric>

#include "schedule/reshape.h"

namespace fanin {
namespace {

/// Where the places of the two schedules are in the whole.
class Places {
 public:
  Places(const Topology& topology, const Schedule& within, const Schedule& across)
      : topology_(topology), within_(within), across_(across) {}

  int helper_count(int across_times) const {
    return topology_.worker_count * within_.helper_count + across_times * across_.helper_count;
  }

  /// A place of `within`, for this worker.
  int of_worker(int worker, int place) const {
    const int devices = topology_.devices_per_worker;
    if (place < devices) return worker * devices + place;
    return topology_.rank_count() + worker * within_.helper_count + place - devices;
  }

  /// A place of `across`, for the device of this number in each worker.
  int of_device(int device, int place) const {
    const int workers = topology_.worker_count;
    if (place < workers) return place * topology_.devices_per_worker + device;
    return topology_.rank_count() + workers * within_.helper_count + device * across_.helper_count +
           place - workers;
  }

 private:
  const Topology& topology_;
  const Schedule& within_;
  const Schedule& across_;
};

/// Appends one round after the other of `within`, in all workers at once.
void append_within(Schedule& whole, const Topology& topology, const Places& places,
                   const Schedule& within) {
  const std::size_t first_round = whole.rounds.size();
  for (int worker = 0; worker < topology.worker_count; ++worker)
    merge(whole, first_round, within, 0,
          [&](int place) { return places.of_worker(worker, place); });
}

}  // namespace

Schedule hierarchical_by_leader(const Topology& topology, const Schedule& within,
                                const Schedule& across) {
  const Places places(topology, within, across);
  const int chunks = std::lcm(within.chunk_count, across.chunk_count);
  const Schedule reduce = refine(for_goal(within, Goal::kReduce, 0), chunks / within.chunk_count);
  Schedule whole{.name = within.name + "/" + across.name,
                 .rank_count = topology.rank_count(),
                 .helper_count = places.helper_count(1),
                 .chunk_count = chunks};
  append_within(whole, topology, places, reduce);
  merge(whole, whole.rounds.size(), refine(across, chunks / across.chunk_count), 0,
        [&](int place) { return places.of_device(0, place); });
  append_within(whole, topology, places, reverse(reduce));
  return whole;
}

Schedule hierarchical_by_slices(const Topology& topology, const Schedule& within,
                                const Schedule& across) {
  const int devices = topology.devices_per_worker;
  const Places places(topology, within, across);
  const Schedule scatter = for_goal(within, Goal::kReduceScatter, 0);
  const int part_chunks = std::lcm(scatter.chunk_count / devices, across.chunk_count);
  const Schedule fine_scatter = refine(scatter, devices * part_chunks / scatter.chunk_count);
  const Schedule fine_across = refine(across, part_chunks / across.chunk_count);
  Schedule whole{.name = within.name + "//" + across.name,
                 .rank_count = topology.rank_count(),
                 .helper_count = places.helper_count(devices),
                 .chunk_count = devices * part_chunks};
  append_within(whole, topology, places, fine_scatter);
  const std::size_t first_round = whole.rounds.size();
  for (int device = 0; device < devices; ++device)
    merge(whole, first_round, fine_across, device * part_chunks,
          [&](int place) { return places.of_device(device, place); });
  append_within(whole, topology, places, reverse(fine_scatter));
  return whole;
}

}  // namespace fanin
