#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared_sums.h"
#include "start_line.h"

namespace bench {

constexpr std::size_t kMostRanks = 8;
constexpr std::size_t kWaveLines = 4096;  // 256 KiB by all ranks together
constexpr std::size_t kSlots = 3;         // waves in flight; more would not stay in the cache
constexpr std::size_t kMostPublishedLines = 1024;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct alignas(128) Flag {
  std::atomic<std::uint64_t> count;
};

/// A message of one line: the flag travels with what it tells of.
struct alignas(128) Letter {
  static constexpr std::size_t kMostFloats = 14;

  std::atomic<std::uint64_t> count;
  float payload[kMostFloats];
};

/// What the ranks share. Counts only grow, over the whole life of the ranks.
struct Shared {
  StartLine start;
  Flag entered[kMostRanks], left[kMostRanks];
  Flag published[kMostRanks];
  Flag offered[kMostRanks], reduced[kMostRanks], collected[kMostRanks];
  Flag mirrored[kMostRanks], seen[kMostRanks];
  Letter letters[2][kMostRanks];
  alignas(4096) float published_slots[2][kMostRanks][kMostPublishedLines * kFloatsInLine];
  alignas(4096) float offered_slots[kSlots][kMostRanks][kWaveLines * kFloatsInLine];
  alignas(4096) float reduced_slots[kSlots][kWaveLines * kFloatsInLine];
  alignas(4096) float mirrored_slots[kSlots][kMostRanks][kWaveLines * kFloatsInLine];
};

constexpr std::size_t kRegisteredBegin = 64 * kMiB;
static_assert(sizeof(Shared) <= kRegisteredBegin);

}  // namespace bench
