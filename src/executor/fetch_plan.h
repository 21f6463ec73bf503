#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/layout.h"
#include "executor/memory_plan.h"
#include "executor/proved_schedule.h"
#include "fanin/buffer.h"
#include "transports/transport.h"

namespace fanin {

/// One rank's part of an all-reduce of buffers that other processes do not see but can copy from,
/// with the kernel's help: each rank sums a share of the elements, from copies of the others'
/// inputs that stay in its cache, and fetches the other shares where they have been summed. Nobody
/// writes into another's memory. All ranks bind the same schedule, layout and arithmetic, and run
/// in the same order.
class FetchPlan {
 public:
  struct Buffers {
    std::span<const std::byte* const> inputs;  // of this rank, for each tensor
    std::span<std::byte* const> outputs;       // likewise; may be the inputs
    // Addresses in the processes of all ranks: [rank * tensor_count + tensor].
    std::span<const std::uint64_t> inputs_of_all;
    std::span<const std::uint64_t> outputs_of_all;
  };

  /// `block_bytes` is the most that is copied of an input at a time; without it, as much as stays
  /// in cache. All ranks give the same. Throws InvalidArgument (kBadSchedule) if the schedule
  /// cannot be proved.
  FetchPlan(std::shared_ptr<const ProvedSchedule> schedule, const Layout& layout,
            const Arithmetic& arithmetic, int rank, Context& context,
            std::optional<std::size_t> block_bytes = std::nullopt);

  /// `wave_base` and errors as in WindowPlan, and as Transport::fetch(). When it returns, nobody
  /// reads this rank's memory any more; when it throws, others may still do so.
  void run(Transport& transport, std::uint64_t& wave_base, const Buffers& buffers, Call& call);

 private:
  struct Run;

  Layout::Range block_of(int rank, std::size_t block) const;
  void sum(Run& run, std::size_t block);
  void gather(Run& run, std::size_t block);
  void wait(Run& run, int rank, int flag, std::size_t block) const;

  std::shared_ptr<const ProvedSchedule> schedule_;
  Layout layout_;
  MemoryPlan plan_;
  std::size_t input_bytes_;   // of an element
  std::size_t result_bytes_;  // likewise
  int rank_;
  int rank_count_;
  std::size_t share_;  // elements that a rank sums
  std::size_t block_;  // and at a time
  std::size_t block_count_;
  Buffer copies_;                         // a block of each other rank's
  std::vector<const std::byte*> inputs_;  // of all ranks, of which the others' are copies
  std::vector<Transport::Fetched> pieces_;
};

}  // namespace fanin
