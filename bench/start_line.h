#pragma once

#include <atomic>
#include <cstdint>

namespace bench {

/// Memory that the ranks of one participant share: where each of them stands.
struct StartLine {
  static constexpr int kMostRanks = 64;

  struct alignas(128) Place {
    std::atomic<std::uint64_t> round;
  };
  Place places[kMostRanks];
};

extern "C" {

/// Returns when all ranks have called it with this `round`, which is 1 for the first one and grows
/// by one. All leave within the time that a cache line travels, so that what is timed afterwards
/// begins at one moment; ranks that share cores let each other run. Also for programs that are not
/// C++.
void bench_wait_at_start(void* line, std::uint64_t round, int rank, int size, int share_cores);
}

}  // namespace bench
