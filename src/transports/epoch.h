#pragma once

#include <cstdint>

#include "transports/transport.h"

namespace fanin {

// Flags count within an epoch, and a later epoch counts on from above: so nobody can take what was
// published in one for what is awaited in another.

inline constexpr int kCountBits = 40;

inline std::uint64_t flag_value(std::uint64_t epoch, std::uint64_t count) {
  return (epoch << kCountBits) + count;
}
inline std::uint64_t epoch_of(std::uint64_t value) { return value >> kCountBits; }
inline std::uint64_t count_of(std::uint64_t value) {
  return value & ((std::uint64_t{1} << kCountBits) - 1);
}

/// Waits until a rank has published `count` in the call's epoch. Throws as Transport::wait().
inline void wait_for_count(Transport& transport, int rank, int flag, std::uint64_t count,
                           Call& call) {
  const std::uint64_t seen = transport.wait(rank, flag, flag_value(call.epoch, count), call);
  if (epoch_of(seen) != call.epoch) [[unlikely]]
    throw_epoch_end(transport.end_of(call.epoch), call);
}

inline void publish_count(Transport& transport, int flag, std::uint64_t count, const Call& call) {
  transport.publish(flag, flag_value(call.epoch, count));
}

/// For the end of a call: what was read in an epoch that is over may be of a later one.
inline void require_epoch(const Transport& transport, const Call& call) {
  std::atomic_thread_fence(std::memory_order_acquire);
  if (transport.epoch() != call.epoch) [[unlikely]]
    throw_epoch_end(transport.end_of(call.epoch), call);
}

}  // namespace fanin
