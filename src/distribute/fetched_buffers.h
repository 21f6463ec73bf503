#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/fetch_plan.h"

namespace fanin {

/// Where the tensors of a call are in the memory of all ranks' processes. Ranks tell each other by
/// words of their first message; of more than one tensor, by their notes.
class FetchedBuffers {
 public:
  using Words = std::array<std::uint64_t, 2>;

  FetchedBuffers(std::size_t tensor_count, int rank_count);

  /// Says where this rank's tensors are, if there is room for it.
  std::optional<Words> tell(std::span<std::byte> note, std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs) const;

  /// Reads what a rank has told; once for each rank before look_up().
  void read(int rank, std::span<const std::byte> note, const Words& words);

  /// All of it, with the buffers of this rank; stays until the next read().
  FetchPlan::Buffers look_up(std::span<const std::byte* const> inputs,
                             std::span<std::byte* const> outputs) const {
    return {inputs, outputs, inputs_, outputs_};
  }

 private:
  std::size_t tensor_count_;
  // [rank * tensors + tensor]
  std::vector<std::uint64_t> inputs_;
  std::vector<std::uint64_t> outputs_;
};

}  // namespace fanin
