#pragma once

#include "fanin/algorithms.h"

namespace fanin {

/// The same schedule for each of `shard_count` shards of the data, at the same time. Shards of an
/// all-reduce rotate the devices within their workers, then the workers, and the helpers, so that
/// all of them get a turn at what one alone would do.
Schedule cut_into_shards(Schedule schedule, const Topology& topology, int shard_count);

}  // namespace fanin
