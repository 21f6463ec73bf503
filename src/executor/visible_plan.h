#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "executor/layout.h"
#include "executor/memory_plan.h"
#include "executor/proved_schedule.h"
#include "transports/transport.h"

namespace fanin {

/// One rank's part of an all-reduce of buffers that all ranks see: each rank sums a share of the
/// elements, in one pass, into the outputs of all. All ranks bind the same schedule, layout and
/// arithmetic, and run in the same order.
class VisiblePlan {
 public:
  /// Where the buffers of all ranks are.
  struct Buffers {
    std::span<const std::byte* const> inputs;  // [rank * tensor_count + tensor]
    std::span<std::byte* const> outputs;       // likewise; may be the same rank's input
    /// Elements of the row of all, ascending, whose outputs only their own rank may write: there it
    /// copies the result from the rank that has summed it.
    std::span<const Layout::Range> kept;
    std::span<const std::uint64_t> renewal_counts;  // that each rank has told
  };

  /// Throws InvalidArgument (kBadSchedule) if the schedule cannot be proved.
  VisiblePlan(std::shared_ptr<const ProvedSchedule> schedule, const Layout& layout,
              const Arithmetic& arithmetic, int rank, Context& context);

  /// `wave_base` and errors as in WindowPlan, and as Transport::write_access(). When it returns,
  /// nobody uses this rank's memory any more; when it throws, others may still write it.
  void run(Transport& transport, std::uint64_t& wave_base, const Buffers& buffers, Call& call);

 private:
  Layout::Range share_of(int rank) const;
  void sum(const Buffers& buffers, const Layout::Range& part);
  void copy_kept(const Buffers& buffers) const;
  void wait_for_all(Transport& transport, int flag, std::uint64_t count, Call& call) const;

  std::shared_ptr<const ProvedSchedule> schedule_;
  Layout layout_;
  MemoryPlan into_all_;
  MemoryPlan into_own_;
  std::size_t result_bytes_;
  int rank_;
  int rank_count_;
  std::size_t share_;  // elements that a rank sums
};

}  // namespace fanin
