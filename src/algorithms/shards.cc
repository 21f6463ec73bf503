#include "algorithms/shards.h"

#include <fmt/format.h>

#include <utility>

namespace fanin {
namespace {

/// The place that stands for `place` in shard number `shard`. Ranks of one worker stay together.
int rotate(const Schedule& schedule, const Topology& topology, int shard, int place) {
  if (schedule.goal != Goal::kAllReduce) return place;  // roots and owners stay where they are
  if (place >= schedule.rank_count) {
    const int helper = place - schedule.rank_count;
    return schedule.rank_count + (helper + shard) % schedule.helper_count;
  }
  const int devices = topology.devices_per_worker;
  const int device = (place % devices + shard) % devices;
  const int worker = (place / devices + shard / devices) % topology.worker_count;
  return worker * devices + device;
}

}  // namespace

Schedule cut_into_shards(Schedule schedule, const Topology& topology, int shard_count) {
  if (shard_count == 1) return schedule;
  for (Round& round : schedule.rounds) {
    Round all;
    all.reserve(round.size() * static_cast<std::size_t>(shard_count));
    for (const Step& step : round) {
      for (int chunk = step.chunks.first; chunk < step.chunks.last; ++chunk) {
        for (int shard = 0; shard < shard_count; ++shard) {
          const auto rotated = [&](int place) { return rotate(schedule, topology, shard, place); };
          const int fine = chunk * shard_count + shard;
          Step added{rotated(step.to), {fine, fine + 1}, {}};
          for (const int source : step.sources) added.sources.push_back(rotated(source));
          all.push_back(std::move(added));
        }
      }
    }
    round = std::move(all);
  }
  schedule.name += fmt::format("#{}", shard_count);
  schedule.chunk_count *= shard_count;
  return schedule;
}

}  // namespace fanin
