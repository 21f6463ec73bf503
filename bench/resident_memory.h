#pragma once

#include <cstdint>

namespace bench {

/// Memory that this process holds in RAM, without its code. What it shares with others counts by
/// the number of those who have touched it, so that the sum over all of them is right.
struct ResidentMemory {
  std::int64_t peak_private_bytes = 0;  ///< since the last forget_peak()
  std::int64_t shared_bytes = 0;        ///< as of now

  std::int64_t bytes() const { return peak_private_bytes + shared_bytes; }
};

/// From VmHWM and RssFile, RssShmem in /proc/self/status, and Pss_Shmem in /proc/self/smaps_rollup.
ResidentMemory resident_memory();

/// What is resident now becomes the peak.
void forget_peak();

}  // namespace bench
