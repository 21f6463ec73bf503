#pragma once

#include <cstddef>
#include <vector>

#include "executor/layout.h"
#include "fanin/schedule.h"

namespace fanin {

/// How far the elements of a chunk lie further down in the row of all than in a rank's input, and
/// than in its output: of goals that give ranks parts of the data.
struct PartShift {
  std::size_t input = 0;
  std::size_t output = 0;
};

/// That of each chunk for one rank. Where the goal gives ranks parts there is one tensor: throws
/// InvalidArgument (kBadSchedule) otherwise.
std::vector<PartShift> find_part_shifts(const Schedule& schedule, const Layout& layout, int rank);

}  // namespace fanin
