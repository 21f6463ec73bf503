#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fanin/group.h"
#include "resident_memory.h"

namespace bench {

struct MemoryOfSteps {
  std::int64_t grown_bytes = 0;   ///< what this process has had more at its peak than `before`
  std::int64_t needed_bytes = 0;  ///< of parameters, gradients and what the optimizer remembers
};

/// Takes three steps of training: gradients are summed as they come, and their sums are applied by
/// SGD with momentum ("sgd") or by "adam".
MemoryOfSteps measure_memory_of_steps(fanin::Group& group, const std::vector<std::size_t>& counts,
                                      const std::string& optimizer, const ResidentMemory& before);

}  // namespace bench
