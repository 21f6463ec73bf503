#include "executor/part_shifts.h"

#include "core/require.h"
#include "schedule/goal.h"

namespace fanin {

std::vector<PartShift> find_part_shifts(const Schedule& schedule, const Layout& layout, int rank) {
  std::vector<PartShift> shifts(static_cast<std::size_t>(schedule.chunk_count));
  if (part_count(schedule.goal, schedule.rank_count) == 1) return shifts;
  require(layout.tensor_count() == 1, ErrorKind::kBadSchedule,
          "the goal {} is for one tensor, got {}", name(schedule.goal), layout.tensor_count());
  PartShift filled;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    const Layout::Range range = layout.chunk(chunk);
    shifts[static_cast<std::size_t>(chunk)] = {range.begin - filled.input,
                                               range.begin - filled.output};
    if (holds(schedule, rank, chunk)) filled.input += range.end - range.begin;
    if (wants(schedule, rank, chunk)) filled.output += range.end - range.begin;
  }
  return shifts;
}

}  // namespace fanin
