#pragma once

#include <span>
#include <vector>

namespace fanin {

/// The ranks of each host, ascending, with the host of the lowest rank first. `hosts` has for each
/// rank the lowest one on the same host.
std::vector<std::vector<int>> ranks_by_host(std::span<const int> hosts);

}  // namespace fanin
