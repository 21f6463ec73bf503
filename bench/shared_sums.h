#pragma once

#include <immintrin.h>

#include <array>
#include <cstddef>

namespace bench {

constexpr std::size_t kFloatsInLine = 16;

/// Sums lines of 64 bytes of `kSources` arrays into each of `kTargets`, by loops for this machine.
/// Streaming stores leave the cache alone; whoever publishes them needs a fence.
template <std::size_t kSources, std::size_t kTargets, bool kStream = false>
[[gnu::noinline]] void sum_lines(std::array<const float*, kSources> sources,
                                 std::array<float*, kTargets> targets, std::size_t lines) {
  for (std::size_t i = 0; i < lines * kFloatsInLine; i += kFloatsInLine) {
    __m256 low = _mm256_load_ps(sources[0] + i);
    __m256 high = _mm256_load_ps(sources[0] + i + 8);
    for (std::size_t s = 1; s < kSources; ++s) {
      low = _mm256_add_ps(low, _mm256_load_ps(sources[s] + i));
      high = _mm256_add_ps(high, _mm256_load_ps(sources[s] + i + 8));
    }
    for (float* const target : targets) {
      if constexpr (kStream) {
        _mm256_stream_ps(target + i, low);
        _mm256_stream_ps(target + i + 8, high);
      } else {
        _mm256_store_ps(target + i, low);
        _mm256_store_ps(target + i + 8, high);
      }
    }
  }
  if constexpr (kStream) _mm_sfence();
}

}  // namespace bench
