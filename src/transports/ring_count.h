#pragma once

#include <cstdint>

#include "transports/epoch.h"

namespace fanin {

// What a ring of lines has taken is counted in 64 bits; the word that tells it has room for the
// lower kCountBits of them, beside the epoch. Neither side is ahead by more than the ring.

/// A count of at least `least`, of which only the lower bits are known.
inline std::uint64_t count_from(std::uint64_t least, std::uint64_t low) {
  return least + count_of(low - least);
}

/// The same for a count of at most `most`.
inline std::uint64_t count_up_to(std::uint64_t most, std::uint64_t low) {
  return most - count_of(most - low);
}

}  // namespace fanin
