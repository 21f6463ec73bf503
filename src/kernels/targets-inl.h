// Which vector instructions are compiled: the baseline of the compiler's flags, AVX2 and AVX-512
// on x86, NEON on Arm. Each one more costs build time. Included before anything of Highway.

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
