#pragma once

#include <immintrin.h>

#include <cstddef>

namespace bench {

// How vectors of each number type are read, added and written. Halves are added as float32.

template <bool kStream>
void store_half(std::byte* at, __m128i half) {
  if constexpr (kStream)
    _mm_stream_si128(reinterpret_cast<__m128i*>(at), half);
  else
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), half);
}

struct Float32 {
  using Vector = __m256;
  static constexpr std::size_t kVectorBytes = 32;
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector load(const std::byte* at) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(at));
  }
  template <bool kStream>
  static void store(std::byte* at, Vector value) {
    if constexpr (kStream)
      _mm256_stream_ps(reinterpret_cast<float*>(at), value);
    else
      _mm256_storeu_ps(reinterpret_cast<float*>(at), value);
  }
};

struct Float64 {
  using Vector = __m256d;
  static constexpr std::size_t kVectorBytes = 32;
  static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  static Vector load(const std::byte* at) {
    return _mm256_loadu_pd(reinterpret_cast<const double*>(at));
  }
  template <bool kStream>
  static void store(std::byte* at, Vector value) {
    if constexpr (kStream)
      _mm256_stream_pd(reinterpret_cast<double*>(at), value);
    else
      _mm256_storeu_pd(reinterpret_cast<double*>(at), value);
  }
};

struct Float16 {
  using Vector = __m256;
  static constexpr std::size_t kVectorBytes = 16;
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector load(const std::byte* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  template <bool kStream>
  static void store(std::byte* at, Vector value) {
    store_half<kStream>(at, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
};

/// Does not look for NaN.
struct BFloat16 {
  using Vector = __m256;
  static constexpr std::size_t kVectorBytes = 16;
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector load(const std::byte* at) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  }
  template <bool kStream>
  static void store(std::byte* at, Vector value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    const __m256i upper = _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0xd8);
    store_half<kStream>(at, _mm256_castsi256_si128(packed));
  }
};

}  // namespace bench
