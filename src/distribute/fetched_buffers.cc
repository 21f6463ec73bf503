#include "distribute/fetched_buffers.h"

#include <cstring>

namespace fanin {

FetchedBuffers::FetchedBuffers(std::size_t tensor_count, int rank_count)
    : tensor_count_(tensor_count),
      inputs_(tensor_count * static_cast<std::size_t>(rank_count)),
      outputs_(inputs_.size()) {}

std::optional<FetchedBuffers::Words> FetchedBuffers::tell(
    std::span<std::byte> note, std::span<const std::byte* const> inputs,
    std::span<std::byte* const> outputs) const {
  if (tensor_count_ > 1 && tensor_count_ * sizeof(Words) > note.size()) return std::nullopt;
  Words words = {};
  for (std::size_t i = 0; i < tensor_count_; ++i) {
    words = {reinterpret_cast<std::uint64_t>(inputs[i]),
             reinterpret_cast<std::uint64_t>(outputs[i])};
    if (tensor_count_ > 1) std::memcpy(note.data() + i * sizeof words, &words, sizeof words);
  }
  return words;
}

void FetchedBuffers::read(int rank, std::span<const std::byte> note, const Words& words) {
  const std::size_t first = static_cast<std::size_t>(rank) * tensor_count_;
  for (std::size_t i = 0; i < tensor_count_; ++i) {
    Words place = words;
    if (tensor_count_ > 1) std::memcpy(&place, note.data() + i * sizeof place, sizeof place);
    inputs_[first + i] = place[0];
    outputs_[first + i] = place[1];
  }
}

}  // namespace fanin
