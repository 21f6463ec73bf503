#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "transports/transport.h"

namespace fanin {

/// A group's lanes, and one for messages between two ranks.
inline constexpr int kChannelsOfGroup = 3;

/// Who goes on after some have died, and where.
struct Survivors {
  std::vector<int> ranks;  ///< ascending
  int channel = 0;         ///< this and the next kChannelsOfGroup - 1 are free
  std::uint64_t first_epoch = 0;
};

/// The first of kChannelsOfGroup neighbouring channels that are free. Throws Unavailable if there
/// are none.
int find_free_channel(std::uint64_t used);

/// Throws InvalidArgument (kBadOption) unless these are some of the ranks, each once.
void check_ranks(std::span<const int> ranks, int size);

/// All who live call it; all get the same. Generations grow from call to call, and from group to
/// group of a channel. Throws
/// DeadlineExceeded, which names one that lives and does not come, and PeerFailure if the others
/// have gone on without this rank.
Survivors find_survivors(Transport& transport, std::uint64_t generation,
                         std::chrono::duration<double> timeout);

/// Returns when all survivors are here, or gone.
void meet_survivors(Transport& transport, std::uint64_t generation, const Survivors& survivors,
                    std::chrono::duration<double> timeout);

}  // namespace fanin
