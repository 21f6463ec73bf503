#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/layout.h"
#include "executor/visible_plan.h"
#include "kernels/arithmetic.h"
#include "transports/transport.h"

namespace fanin {

/// Where the tensors of a call are on all ranks, if all can see them: in registered memory, or
/// anywhere if all memory is seen. Ranks tell each other by words of their first message; of more
/// than one tensor, by their notes.
class VisibleBuffers {
 public:
  using Words = std::array<std::uint64_t, 3>;

  VisibleBuffers(std::span<const std::size_t> counts, const Arithmetic& arithmetic, int rank_count);

  /// Says where this rank's tensors are, if others may use them there.
  std::optional<Words> tell(Transport& transport, std::span<std::byte> note,
                            std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs);

  /// Reads what a rank has told; once for each rank before look_up(). Throws PeerFailure if it
  /// points outside of its registered memory.
  void read(Transport& transport, int rank, std::span<const std::byte> note, const Words& words);

  /// All of it; stays until the next read().
  VisiblePlan::Buffers look_up(const Transport& transport);

  /// To be called when a call is given up after tell(): whoever is late writes elsewhere.
  void give_up(Transport& transport, std::span<std::byte* const> outputs) const;

 private:
  void find_kept(std::size_t unit);

  /// The bytes of an output that lie in whole pieces of registered memory.
  Layout::Range whole_pieces(const std::byte* output, std::size_t bytes, std::size_t unit) const;

  std::vector<std::size_t> counts_;  // elements of each tensor
  std::size_t input_bytes_;          // of an element
  std::size_t result_bytes_;
  // [rank * tensors + tensor]
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
  std::vector<std::uint64_t> renewal_counts_;
  // Of one tensor: what each rank has told last, which is what it tells again most of the time.
  std::vector<std::optional<Words>> last_words_;
  std::vector<Layout::Range> kept_;
  bool is_kept_known_ = false;  // for these outputs
};

}  // namespace fanin
