// Which vector instructions are compiled: the baseline of the compiler's flags, AVX2 and AVX-512
// on x86, NEON on Arm. Each one more costs build time, most of all with sanitizers, which leave out
// AVX-512. Included before anything of Highway.

#ifndef HWY_DISABLED_TARGETS
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FANIN_SLOW_TO_BUILD HWY_AVX3
#else
#define FANIN_SLOW_TO_BUILD 0
#endif
#define HWY_DISABLED_TARGETS                                                              \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | \
   FANIN_SLOW_TO_BUILD)
#endif
