#pragma once

#include <vector>

namespace fanin::cli {

/// Numbers of the cores that this process may run on, in order.
std::vector<int> usable_cores();

}  // namespace fanin::cli
