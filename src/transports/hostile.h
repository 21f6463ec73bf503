#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "transports/transport.h"

namespace fanin {

/// What may happen to a rank, for tests and trials.
enum class Mischief : std::uint8_t {
  kDie,       // the process is killed
  kStop,      // the process is stopped until somebody lets it go on
  kDelay,     // it sleeps for a while
  kDrop,      // a flag is never published
  kFlip,      // a bit of the first message is turned
  kTruncate,  // its note loses its end
};

std::string_view name(Mischief mischief);

struct HostilePlan {
  Mischief mischief = Mischief::kDelay;
  std::uint64_t step = 1;  ///< publishing, waiting, access to memory: steps, from 1
  std::chrono::milliseconds delay{50};
  std::uint64_t seed = 0;  ///< which bit, and so on
};

/// A transport that does as the other one does, but for one mischief at one step. Transports that
/// are opened from it are harmless, and count nothing.
std::unique_ptr<Transport> make_hostile(std::unique_ptr<Transport> transport,
                                        const HostilePlan& plan);

}  // namespace fanin
