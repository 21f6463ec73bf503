// Any text either is a schedule, which is printed and read as the same schedule, or is refused with
// InvalidArgument. A schedule that the proof accepts is lowered to programs that are proved too;
// any has a cost and a picture.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fanin/error.h"
#include "fanin/schedule.h"
#include "fanin/schedule_cost.h"
#include "schedule/memory_program.h"
#include "schedule/window_program.h"

namespace {

/// Small enough that a proof takes no time.
bool is_small(const fanin::Schedule& schedule) {
  std::size_t sources = 0;
  for (const fanin::Round& round : schedule.rounds)
    for (const fanin::Step& step : round) sources += step.sources.size();
  return schedule.place_count() <= 16 && schedule.chunk_count <= 16 && sources <= 200;
}

void prove(const fanin::Schedule& schedule) {
  if (find_error(schedule)) return;
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
    for (const fanin::Outputs outputs : {fanin::Outputs::kSeparate, fanin::Outputs::kShared})
      for (const std::size_t most_nested : {0, 17})
        if (find_error(lower_to_memory(schedule, chunk, outputs, most_nested), schedule, chunk,
                       outputs))
          std::abort();
  if (find_error(lower_to_window(schedule), schedule)) std::abort();
  if (find_error(lower_to_pads(schedule), schedule)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const fanin::Schedule schedule =
        fanin::parse_schedule({reinterpret_cast<const char*>(data), size});
    if (fanin::parse_schedule(to_text(schedule)) != schedule) std::abort();
    if (cost_of(schedule).message_count < 0 || to_svg(schedule).empty()) std::abort();
    if (is_small(schedule)) prove(schedule);
  } catch (const fanin::InvalidArgument& error) {
    if (error.kind() != fanin::ErrorKind::kBadSchedule) std::abort();
  }
  return 0;
}
