#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/layout.h"
#include "executor/memory_plan.h"
#include "executor/proved_schedule.h"
#include "transports/transport.h"

namespace fanin {

/// One rank's part of an all-reduce of buffers that all ranks can read: each rank sums a share of
/// every wave into its own output, and copies the shares of the others from theirs while these are
/// in cache. Nobody writes memory of another rank, so that one which is late spoils nothing. All
/// ranks bind the same schedule, layout and arithmetic, and run in the same order.
class VisiblePlan {
 public:
  /// Throws InvalidArgument (kBadSchedule) if the schedule cannot be proved.
  VisiblePlan(std::shared_ptr<const ProvedSchedule> schedule, const Layout& layout,
              const Arithmetic& arithmetic, int rank, Context& context);

  /// inputs[rank * tensor_count + tensor] of all ranks; outputs likewise, of which this rank writes
  /// its own. An output may be the same rank's input if the dtypes are equal. `wave_base` and
  /// errors as in WindowPlan. When it returns, nobody reads this rank's memory any more.
  void run(Transport& transport, std::uint64_t& wave_base, std::span<const std::byte* const> inputs,
           std::span<std::byte* const> outputs, Call& call);

 private:
  struct Run;
  Layout::Range share_of(std::size_t wave, int rank) const;
  void copy_wave(Run& run, std::size_t wave) const;
  void wait(Run& run, int rank, int flag, std::size_t wave) const;

  std::shared_ptr<const ProvedSchedule> schedule_;
  Layout layout_;
  MemoryPlan memory_;
  std::size_t result_bytes_;
  int rank_;
  int rank_count_;
  std::size_t share_;  // elements of a wave that a rank sums
  std::size_t wave_count_;
};

}  // namespace fanin
