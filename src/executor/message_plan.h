#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/layout.h"
#include "executor/part_shifts.h"
#include "executor/proved_schedule.h"
#include "fanin/buffer.h"
#include "fanin/context.h"
#include "kernels/arithmetic.h"
#include "kernels/fold.h"
#include "transports/links.h"

namespace fanin {

/// One rank's part of a schedule, bound to data that other ranks do not see, not even in windows:
/// the steps as they are written, as messages. The data goes in waves: wave w is block w of every
/// chunk. Several waves are under way at a time, each as far as its messages have come, so that no
/// link waits for another. All ranks bind the same schedule, layout and arithmetic, and run in the
/// same order.
class MessagePlan {
 public:
  /// Where the goal gives ranks parts of the data there is one tensor. `block_bytes` is the most
  /// that a block of a chunk may have, but a block has 64 elements at least, and whole 64s; without
  /// it, blocks are large enough that a message costs little beside its bytes. All ranks give the
  /// same. Throws InvalidArgument (kBadSchedule) with the sentence of find_error() if the schedule
  /// cannot be proved.
  MessagePlan(std::shared_ptr<const ProvedSchedule> schedule, Layout layout,
              const Arithmetic& arithmetic, int rank, Context& context,
              std::optional<std::size_t> block_bytes = std::nullopt);

  /// As WindowPlan::run(). The transport has links.
  void run(Transport& transport, std::uint64_t& wave_base, std::span<const std::byte* const> inputs,
           std::span<std::byte* const> outputs, Call& call);

  std::size_t block_elements() const { return block_; }
  std::size_t wave_count() const { return wave_count_; }

 private:
  using Cargo = MessageProgram::Cargo;

  /// An action with all that running it needs.
  struct Action {
    enum class Kind : std::uint8_t { kSend, kReceive, kFold };
    Kind kind = Kind::kFold;
    int peer = 0;  // of messages: the rank at the other end
    MessageName name = {};
    Chunks chunks = {};        // of a fold: one
    std::vector<Cargo> cargo;  // of a message, of each chunk; of a fold, its sources
    Cargo target = {};         // of a fold
    std::span<const std::uint8_t> group_sizes = {};
  };
  struct Place {
    std::vector<Action> actions;
    std::size_t first_slot = 0;     // in the memory of a wave
    std::size_t first_scratch = 0;  // likewise
  };
  struct Run;

  void bind_place(int index);
  Action bind_message(const MessageProgram::Message& message, int place, Action::Kind kind) const;
  void find_neighbours();
  void count_elements();
  bool overwrites_inputs() const;

  bool advance(Run& run, std::size_t wave);
  bool try_action(Run& run, const Place& place, const Action& action, std::size_t wave);
  bool send(Run& run, const Place& place, const Action& action, std::size_t wave);
  bool receive(Run& run, const Place& place, const Action& action, std::size_t wave);
  void unpack(Run& run, const Place& place, const Action& action, std::size_t wave,
              std::span<const std::byte> bytes);
  void fold_sources(Run& run, const Place& place, const Action& action, std::size_t wave);
  void tell_done(Run& run, std::size_t wave);

  Layout::Range range_of(int chunk, std::size_t wave) const;
  std::size_t bytes_of(const Action& action, std::size_t wave) const;
  std::byte* address(Run& run, const Place& place, const Cargo& cargo, std::size_t wave, int chunk,
                     std::size_t in_block, const Layout::Segment& piece) const;

  std::shared_ptr<const ProvedSchedule> schedule_;
  Layout layout_;
  Arithmetic arithmetic_;
  int rank_;
  Context& context_;
  bool only_moves_;
  bool overwrites_inputs_ = false;            // if the outputs are the inputs' memory
  std::vector<std::size_t> held_elements_;    // of each tensor: of this rank's input
  std::vector<std::size_t> wanted_elements_;  // and output
  std::vector<PartShift> shifts_;
  std::vector<Place> places_;   // that this rank works for
  std::vector<int> senders_;    // other ranks from which messages come
  std::vector<int> receivers_;  // and to which they go
  std::size_t cell_bytes_;
  std::size_t block_;
  std::size_t wave_count_;
  std::size_t blocks_in_wave_ = 0;  // slots and scratch of all places
  Buffer memory_;                   // of the waves that are under way
  std::vector<Operand> operands_;
};

}  // namespace fanin
