#pragma once

#include "fanin/algorithms.h"

namespace fanin {

// What the table names, one file each. The topology is checked before.

Schedule direct(const Topology& topology);
Schedule ring(const Topology& topology);
Schedule relay(const Topology& topology);
Schedule halving_doubling(const Topology& topology);
Schedule recursive_doubling(const Topology& topology);
Schedule shuffle(const Topology& topology);
Schedule double_tree(const Topology& topology);
Schedule hierarchical_copy(const Topology& topology);
Schedule one_device(const Topology& topology);

}  // namespace fanin
