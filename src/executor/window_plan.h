#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "executor/layout.h"
#include "fanin/buffer.h"
#include "fanin/context.h"
#include "kernels/arithmetic.h"
#include "kernels/fold.h"
#include "schedule/window_program.h"
#include "transports/transport.h"

namespace fanin {

/// One rank's part of a schedule, bound to data that other ranks do not see: what they need goes
/// through slots of the transport's windows, block by block. All ranks bind the same schedule,
/// layout, arithmetic and window size, and run in the same order.
class WindowPlan {
 public:
  /// Proves the schedule and what it is lowered to; throws InvalidArgument (kBadSchedule) with the
  /// sentence of find_error() otherwise, or if the window is too small for it.
  WindowPlan(const Schedule& schedule, Layout layout, const Arithmetic& arithmetic, int rank,
             std::size_t window_bytes, int flag_count, Context& context);

  /// inputs and outputs are those of this rank, one a tensor. An output may be its input's memory
  /// where the dtypes are equal.
  /// `wave_base` counts the waves of all runs of the group so far; all ranks have the same. It is
  /// moved on. Nobody may still be inside an earlier run: the caller sees to that.
  /// Throws DeadlineExceeded or PeerFailure, with `what`, the level and the wave.
  void run(Transport& transport, std::uint64_t& wave_base, std::span<const std::byte* const> inputs,
           std::span<std::byte* const> outputs, Deadline deadline, std::string_view what);

  std::size_t block_elements() const { return block_; }
  std::size_t wave_count() const { return wave_count_; }

 private:
  struct Run;

  std::byte* slot_address(Run& run, const Ref& slot, std::size_t wave) const;
  void wait(Run& run, int rank, int flag, std::size_t wave, int level) const;
  void run_level(Run& run, int level, std::size_t wave);
  void run_task(Run& run, const WindowLevel::Task& task, std::size_t wave);
  void run_piece(Run& run, const Operation& operation, std::size_t wave, std::size_t in_block,
                 const Layout::Segment& piece);

  WindowProgram program_;
  Layout layout_;
  Arithmetic arithmetic_;
  int rank_;
  std::size_t block_ = 0;
  std::size_t slot_bytes_ = 0;
  std::size_t wave_count_ = 0;
  Buffer scratch_;
  std::vector<Operand> operands_;
  std::vector<std::byte*> targets_;
};

}  // namespace fanin
