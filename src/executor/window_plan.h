#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/layout.h"
#include "executor/part_shifts.h"
#include "executor/proved_schedule.h"
#include "executor/slot_store.h"
#include "fanin/buffer.h"
#include "fanin/context.h"
#include "kernels/arithmetic.h"
#include "kernels/fold.h"
#include "transports/transport.h"

namespace fanin {

/// One rank's part of a schedule, bound to data that other ranks do not see: what they need goes
/// through slots in memory that all see, block by block. All ranks bind the same schedule, layout,
/// arithmetic and room, and run in the same order.
class WindowPlan {
 public:
  /// What there is for slots, and of a transport.
  struct Room {
    std::size_t bytes_of_rank = 0;
    int flag_count = 0;
    bool ranks_share_cores = false;
    /// Ranks write into the rooms of others (see lower_to_pads). Only for arithmetic with
    /// can_share_places().
    bool is_shared = false;
  };

  /// Where the slots are in a run.
  struct Rooms {
    std::span<std::byte* const> begins;  // of each rank's room, 64-byte aligned
    /// Of shared rooms, which lie in registered memory: as Transport::write_access() takes them.
    std::span<const std::uint64_t> renewal_counts = {};
  };

  /// Whether a result can be written over what it was made of.
  static bool can_share_places(const Arithmetic& arithmetic);

  /// Where the goal gives ranks parts of the data there is one tensor. Throws InvalidArgument
  /// (kBadSchedule) with the sentence of find_error() if the schedule cannot be proved, or if the
  /// room is too small for it.
  WindowPlan(std::shared_ptr<const ProvedSchedule> schedule, Layout layout,
             const Arithmetic& arithmetic, int rank, const Room& room, Context& context);

  /// inputs and outputs are those of this rank, one a tensor; what it does not hold or does not
  /// want may be missing. An output may be its input's memory where the dtypes are equal.
  /// `wave_base` counts the waves of all runs of the epoch so far; all ranks have the same. It is
  /// moved on. Nobody may still be inside an earlier run, or use the rooms: the caller sees to
  /// that. Throws as Transport::wait() and write_access(), and adds the level and the block to what
  /// the call says.
  void run(Transport& transport, std::uint64_t& wave_base, std::span<const std::byte* const> inputs,
           std::span<std::byte* const> outputs, Call& call, const Rooms& rooms);

  std::size_t block_elements() const { return block_; }
  std::size_t wave_count() const { return wave_count_; }

 private:
  struct Run;

  std::byte* slot_address(Run& run, const Ref& slot, std::size_t wave) const;
  void wait(Run& run, int rank, int flag, std::size_t wave, int level) const;
  void run_level(Run& run, int level, std::size_t wave);
  void run_first_tasks(Run& run, const WindowLevel& work, std::size_t wave);
  void run_task(Run& run, const WindowLevel::Task& task, std::size_t wave);
  void run_piece(Run& run, const WindowLevel::Task& task, std::size_t wave, std::size_t in_block,
                 const Layout::Segment& piece);

  std::shared_ptr<const ProvedSchedule> schedule_;
  const WindowProgram& program_;
  Layout layout_;
  Arithmetic arithmetic_;
  int rank_;
  bool is_shared_;
  bool only_moves_;
  std::size_t block_ = 0;
  std::size_t slot_bytes_ = 0;
  std::size_t wave_count_ = 0;
  Buffer scratch_;
  std::vector<PartShift> shifts_;
  SlotStore slot_store_;
  std::vector<Operand> operands_;
  std::vector<std::byte*> targets_;
};

}  // namespace fanin
