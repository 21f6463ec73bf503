#pragma once

#include "fanin/algorithms.h"

namespace fanin {

/// All-reduce on two levels, made of two all-reduces: `within` for the devices of one worker, and
/// `across` for one rank of each worker. Through a leader: the devices of a worker reduce to their
/// first, these all-reduce, and each broadcasts.
Schedule hierarchical_by_leader(const Topology& topology, const Schedule& within,
                                const Schedule& across);

/// By slices: the devices of a worker reduce-scatter, each all-reduces its part with those of its
/// number in other workers, and the devices gather the parts: all of them carry data across.
Schedule hierarchical_by_slices(const Topology& topology, const Schedule& within,
                                const Schedule& across);

}  // namespace fanin
