#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/arithmetic.h"
#include "transports/transport.h"

namespace fanin {

/// Writes where this rank's tensors are into its note, if all ranks can read them there: in its
/// registered memory, or anywhere if they see all its memory. Whether they can.
bool tell_addresses(Transport& transport, std::span<std::byte> note,
                    std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                    std::span<const std::size_t> counts, const Arithmetic& arithmetic);

/// Reads what a rank has told. Throws PeerFailure if it points outside of its registered memory.
void read_addresses(Transport& transport, int rank, std::span<const std::byte> note,
                    std::span<const std::size_t> counts, const Arithmetic& arithmetic,
                    std::span<const std::byte*> inputs, std::span<std::byte*> outputs);

}  // namespace fanin
