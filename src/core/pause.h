#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fanin {

/// Tells the core that this is a spinning loop.
inline void pause_core() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace fanin
