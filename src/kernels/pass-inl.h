// The loop of a pass, and which of its forms a pass takes. A form has its own copy of the loop for
// the counts that matter, with everything it needs in registers.

#if defined(FANIN_KERNELS_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_KERNELS_PASS_INL_H_
#undef FANIN_KERNELS_PASS_INL_H_
#else
#define FANIN_KERNELS_PASS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "kernels/combine-inl.h"
#include "kernels/format-inl.h"
#include "kernels/pass.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Walk = void (*)(const Pass& pass, std::size_t line_count);

/// Picks the form that a pass takes.
using Choose = Walk (*)(const Pass& pass);

/// The elements that one turn of the loop takes: one cache line of each source. (Two lines a turn
/// are slower where lines are dirty in another core's cache.)
template <class Source>
inline constexpr std::size_t kLineElements = 64 / Source::kSize;

// Not inlined, and pointers in locals: elsewhere the compiler reloads them in the loop.
// A count of 0 sources or targets means: read it from the pass.
template <class Source, class Target, class Op, Start kStart, std::size_t kSources,
          std::size_t kTargets, bool kStream>
HWY_NOINLINE void walk(const Pass& pass, std::size_t line_count) {
  using D = typename Source::D;
  using V = typename Source::V;
  using Partial = Plain<hn::TFromD<D>>;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  constexpr std::size_t kElements = kLineElements<Source>;
  constexpr std::size_t kVectors = kElements / kLanes;

  const std::size_t source_count = kSources == 0 ? pass.source_count : kSources;
  const std::size_t target_count = kTargets == 0 ? pass.target_count : kTargets;
  const std::array<const std::byte*, kMostPassSources> sources = pass.sources;
  const std::array<std::byte*, kMostPassTargets> targets = pass.targets;
  const std::byte* const partial = pass.partial;
  const bool divides = pass.divisor != 1;
  const V divisor = hn::Set(D(), static_cast<hn::TFromD<D>>(pass.divisor));

  for (std::size_t i = 0; i < line_count * kElements; i += kElements) {
    V value[kVectors];
    constexpr std::size_t kFirst = kStart == Start::kPartial ? 0 : 1;
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i + v * kLanes;
      if constexpr (kStart == Start::kPartial)
        value[v] = Partial::load(partial + at * Partial::kSize);
      else
        value[v] = Source::load(sources[0] + at * Source::kSize);
    }
    HWY_UNROLL(9)
    for (std::size_t s = kFirst; s < source_count; ++s) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v)
        value[v] =
            Op::combine(value[v], Source::load(sources[s] + (i + v * kLanes) * Source::kSize));
    }
    if constexpr (kStart == Start::kGroup) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v)
        value[v] =
            Op::combine(Partial::load(partial + (i + v * kLanes) * Partial::kSize), value[v]);
    }
    if (divides) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) value[v] = hn::Div(value[v], divisor);
    }
    for (std::size_t t = 0; t < target_count; ++t) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v)
        Target::template store<kStream>(value[v], targets[t] + (i + v * kLanes) * Target::kSize);
    }
  }
}

template <class Source, class Target, Start kStart, std::size_t kSources, std::size_t kTargets>
Walk sum_walk(const Pass& pass) {
  return pass.streams ? walk<Source, Target, Sum, kStart, kSources, kTargets, true>
                      : walk<Source, Target, Sum, kStart, kSources, kTargets, false>;
}

template <class Source, class Target, std::size_t kSources>
Walk sum_from_first(const Pass& pass) {
  switch (pass.target_count) {
    case 1:
      return sum_walk<Source, Target, Start::kFirstSource, kSources, 1>(pass);
    case 2:
      return sum_walk<Source, Target, Start::kFirstSource, kSources, 2>(pass);
    default:
      return sum_walk<Source, Target, Start::kFirstSource, kSources, 0>(pass);
  }
}

/// Sums that the library makes all the time.
template <class Source, class Target>
Walk frequent_sum(const Pass& pass) {
  if (pass.start == Start::kGroup)
    return pass.source_count == 8 && pass.target_count == 1
               ? sum_walk<Source, Target, Start::kGroup, 8, 1>(pass)
               : sum_walk<Source, Target, Start::kGroup, 0, 0>(pass);
  if (pass.start == Start::kPartial) return sum_walk<Source, Target, Start::kPartial, 0, 0>(pass);
  switch (pass.source_count) {
    case 1:
      return sum_from_first<Source, Target, 1>(pass);
    case 2:
      return sum_from_first<Source, Target, 2>(pass);
    case 4:
      return sum_from_first<Source, Target, 4>(pass);
    case 8:
      return sum_from_first<Source, Target, 8>(pass);
    default:
      return sum_from_first<Source, Target, 0>(pass);
  }
}

/// Sums to and from partials of another type: one loop for each way to start, and eight at once.
template <class Source, class Target>
Walk any_sum(const Pass& pass) {
  switch (pass.start) {
    case Start::kFirstSource:
      return pass.source_count == 8 ? sum_walk<Source, Target, Start::kFirstSource, 8, 0>(pass)
                                    : sum_walk<Source, Target, Start::kFirstSource, 0, 0>(pass);
    case Start::kPartial:
      return sum_walk<Source, Target, Start::kPartial, 0, 0>(pass);
    default:
      return pass.source_count == 8 ? sum_walk<Source, Target, Start::kGroup, 8, 0>(pass)
                                    : sum_walk<Source, Target, Start::kGroup, 0, 0>(pass);
  }
}

/// Everything else is one loop for each way to start.
template <class Source, class Target, class Op>
Walk rare(const Pass& pass) {
  switch (pass.start) {
    case Start::kFirstSource:
      return walk<Source, Target, Op, Start::kFirstSource, 0, 0, false>;
    case Start::kPartial:
      return walk<Source, Target, Op, Start::kPartial, 0, 0, false>;
    default:
      return walk<Source, Target, Op, Start::kGroup, 0, 0, false>;
  }
}

/// Into partials, by an op that is not the plain sum.
template <class Source, class Input>
Walk other_op(const Pass& pass) {
  using Partial = Plain<hn::TFromD<typename Source::D>>;
  switch (pass.op) {
    case ReduceOp::kMin:
      return rare<Source, Partial, Minimum>(pass);
    case ReduceOp::kMax:
      return rare<Source, Partial, Maximum>(pass);
    case ReduceOp::kProd:
      return pass.rounds_each_step ? rare<Source, Partial, Rounded<Product, Input>>(pass)
                                   : rare<Source, Partial, Product>(pass);
    default:
      return rare<Source, Partial, Rounded<Sum, Input>>(pass);
  }
}

inline bool is_plain_sum(const Pass& pass) {
  return pass.op == ReduceOp::kSum && !pass.rounds_each_step;
}

/// Walks whole lines, then the rest, padded to a line, by the same instructions.
template <class Source, class Target>
void run_lines(const Pass& pass, Choose choose) {
  constexpr std::size_t kElements = kLineElements<Source>;
  constexpr std::size_t kPartialSize = sizeof(hn::TFromD<typename Source::D>);
  const std::size_t line_count = pass.count / kElements;
  if (line_count > 0) choose(pass)(pass, line_count);
  const std::size_t rest = pass.count % kElements;
  if (rest == 0) return;

  const std::size_t done = line_count * kElements;
  alignas(64) std::byte padded[kMostPassSources + 2][kElements * kPartialSize] = {};
  Pass last = pass;
  const auto pad = [&](const std::byte* from, std::size_t size, std::size_t slot) {
    std::memcpy(padded[slot], from + done * size, rest * size);
    return padded[slot];
  };
  for (std::size_t s = 0; s < pass.source_count; ++s)
    last.sources[s] = pad(pass.sources[s], Source::kSize, s);
  if (pass.partial != nullptr) last.partial = pad(pass.partial, kPartialSize, kMostPassSources);
  last.targets[0] = padded[kMostPassSources + 1];
  last.target_count = 1;
  last.streams = false;
  choose(last)(last, 1);
  for (std::size_t t = 0; t < pass.target_count; ++t)
    std::memcpy(pass.targets[t] + done * Target::kSize, last.targets[0], rest * Target::kSize);
}

}  // namespace fanin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
