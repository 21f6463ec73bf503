#include "distribute/visible_address.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace fanin {
namespace {

using Address = std::uint64_t;

/// Between processes an address is where it lies in the registered memory; threads have none.
Address base_of(Transport& transport, int rank) {
  return reinterpret_cast<Address>(transport.registered(rank).data());
}

class Bounds {
 public:
  Bounds(Transport& transport, int rank)
      : base_(base_of(transport, rank)), byte_count_(transport.registered(rank).size()) {}

  bool contain(Address offset, std::size_t bytes) const {
    return base_ == 0 || (offset <= byte_count_ && bytes <= byte_count_ - offset);
  }
  Address base() const { return base_; }

 private:
  Address base_;
  std::size_t byte_count_;
};

}  // namespace

bool tell_addresses(Transport& transport, std::span<std::byte> note,
                    std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                    std::span<const std::size_t> counts, const Arithmetic& arithmetic) {
  if (2 * counts.size() * sizeof(Address) > note.size()) return false;
  const Bounds bounds(transport, transport.rank());
  std::byte* at = note.data();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Address input = reinterpret_cast<Address>(inputs[i]) - bounds.base();
    const Address output = reinterpret_cast<Address>(outputs[i]) - bounds.base();
    if (!bounds.contain(input, counts[i] * arithmetic.size_of(Cell::kInput)) ||
        !bounds.contain(output, counts[i] * arithmetic.size_of(Cell::kResult)))
      return false;
    std::memcpy(at, &input, sizeof input);
    std::memcpy(at + sizeof input, &output, sizeof output);
    at += 2 * sizeof(Address);
  }
  return true;
}

void read_addresses(Transport& transport, int rank, std::span<const std::byte> note,
                    std::span<const std::size_t> counts, const Arithmetic& arithmetic,
                    std::span<const std::byte*> inputs, std::span<std::byte*> outputs) {
  const Bounds bounds(transport, rank);
  const std::byte* at = note.data();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Address input = 0;
    Address output = 0;
    std::memcpy(&input, at, sizeof input);
    std::memcpy(&output, at + sizeof input, sizeof output);
    at += 2 * sizeof(Address);
    if (!bounds.contain(input, counts[i] * arithmetic.size_of(Cell::kInput)) ||
        !bounds.contain(output, counts[i] * arithmetic.size_of(Cell::kResult)))
      throw PeerFailure(fmt::format("{} says that tensor {} lies outside of its registered memory",
                                    transport.describe(rank), i));
    inputs[i] = std::bit_cast<const std::byte*>(bounds.base() + input);
    outputs[i] = std::bit_cast<std::byte*>(bounds.base() + output);
  }
}

}  // namespace fanin
