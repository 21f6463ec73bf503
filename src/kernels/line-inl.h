// A few neighbouring vectors, which one turn of a pass's loop works on.

#if defined(FANIN_KERNELS_LINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_KERNELS_LINE_INL_H_
#undef FANIN_KERNELS_LINE_INL_H_
#else
#define FANIN_KERNELS_LINE_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "kernels/format-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The elements that one turn of the loop takes: one cache line of each source. (Two lines a turn
/// are slower where lines are dirty in another core's cache.) Without vectors a few elements.
template <class Source>
inline constexpr std::size_t kLineElements = HWY_TARGET == HWY_SCALAR ? 4 : 64 / Source::kSize;

template <class Format>
inline constexpr std::size_t kLanes = hn::MaxLanes(typename Format::D());

template <class Format>
inline constexpr bool kIsPlain = std::is_same_v<Format, Plain<hn::TFromD<typename Format::D>>>;

/// Whether a loop holds even and odd elements apart. Partials can be so loaded and stored, but not
/// streamed.
template <class Source, class Target, bool kStream>
inline constexpr bool kSplits = HWY_TARGET != HWY_SCALAR&& std::is_same_v<Source, BFloat16Format> &&
                                !(kStream && kIsPlain<Target>);

template <class Format, bool kSplit, class V, std::size_t kVectors>
HWY_INLINE void load_line(const std::byte* from, V (&line)[kVectors]) {
  constexpr std::size_t kBytes = kLanes<Format> * Format::kSize;
  if constexpr (!kSplit) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) line[v] = Format::load(from + v * kBytes);
  } else {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; v += 2) {
      if constexpr (kIsPlain<Format>)
        hn::LoadInterleaved2(typename Format::D(),
                             reinterpret_cast<const float*>(from + v * kBytes), line[v],
                             line[v + 1]);
      else
        Format::load_split(from + v * kBytes, line[v], line[v + 1]);
    }
  }
}

template <class Format, bool kSplit, bool kStream, class V, std::size_t kVectors>
HWY_INLINE void store_line(const V (&line)[kVectors], std::byte* to) {
  constexpr std::size_t kBytes = kLanes<Format> * Format::kSize;
  if constexpr (!kSplit) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v)
      Format::template store<kStream>(line[v], to + v * kBytes);
  } else {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; v += 2) {
      if constexpr (kIsPlain<Format>)
        hn::StoreInterleaved2(line[v], line[v + 1], typename Format::D(),
                              reinterpret_cast<float*>(to + v * kBytes));
      else
        Format::template store_split<kStream>(line[v], line[v + 1], to + v * kBytes);
    }
  }
}

template <class V, std::size_t kVectors>
HWY_INLINE void copy_line(const V (&from)[kVectors], V (&to)[kVectors]) {
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) to[v] = from[v];
}

/// a = a op b.
template <class Op, class V, std::size_t kVectors>
HWY_INLINE void combine_line(V (&a)[kVectors], const V (&b)[kVectors]) {
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) a[v] = Op::combine(a[v], b[v]);
}

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
