// The loop of a pass, and which of its forms a pass takes. A form has its own copy of the loop for
// the counts that matter, with everything it needs in registers.

#if defined(FANIN_KERNELS_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_KERNELS_PASS_INL_H_
#undef FANIN_KERNELS_PASS_INL_H_
#else
#define FANIN_KERNELS_PASS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "kernels/combine-inl.h"
#include "kernels/line-inl.h"
#include "kernels/pass.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Walk = void (*)(const Pass& pass, std::size_t line_count);

/// Picks the form that a pass takes.
using Choose = Walk (*)(const Pass& pass);

/// Halves keep the core so busy that it would not ask for memory early enough by itself.
template <class Source>
inline constexpr bool kPrefetches = Source::kSize == 2;
inline constexpr std::size_t kPrefetchBytes = 512;

// Not inlined, and pointers in locals: elsewhere the compiler reloads them in the loop.
// A count of 0 sources or targets means: read it from the pass.
template <class Source, class Target, class Op, Start kStart, std::size_t kSources,
          std::size_t kTargets, bool kStream>
HWY_NOINLINE void walk(const Pass& pass, std::size_t line_count) {
  using D = typename Source::D;
  using V = typename Source::V;
  using Partial = Plain<hn::TFromD<D>>;
  constexpr std::size_t kElements = kLineElements<Source>;
  constexpr std::size_t kVectors = kElements / kLanes<Source>;
  constexpr bool kSplit = kSplits<Source, Target, kStream>;
  constexpr bool kHasApart = has_group_apart(kStart);
  // Where the number of sources is a constant, the group apart is one of the ADD_N order.
  constexpr std::size_t kApart = kHasApart && kSources > 0 ? kMostSourcesApart : 0;
  constexpr bool kStartsWithPartial = kStart == Start::kPartial;
  constexpr bool kJoinsPartial = kStart == Start::kGroup || kStart == Start::kTwoGroups;

  const std::size_t apart = kApart > 0 ? kApart : kHasApart ? pass.apart_count : 0;
  const std::size_t chained = (kSources == 0 ? pass.source_count : kSources) - apart;
  const std::size_t target_count = kTargets == 0 ? pass.target_count : kTargets;
  const std::array<const std::byte*, kMostPassSources> sources = pass.sources;
  const std::array<std::byte*, kMostPassTargets> targets = pass.targets;
  const std::byte* const partial = pass.partial;
  const bool divides = pass.divisor != 1;
  const V divisor = hn::Set(D(), static_cast<hn::TFromD<D>>(pass.divisor));

  for (std::size_t i = 0; i < line_count * kElements; i += kElements) {
    V value[kVectors];
    V next[kVectors];
    const auto load_source = [&](std::size_t s, V(&line)[kVectors]) HWY_ATTR {
      const std::byte* const at = sources[s] + i * Source::kSize;
      load_line<Source, kSplit>(at, line);
      if constexpr (kPrefetches<Source>) hwy::Prefetch(at + kPrefetchBytes);
    };
    if constexpr (kStartsWithPartial)
      load_line<Partial, kSplit>(partial + i * Partial::kSize, value);
    else
      load_source(0, value);
    constexpr std::size_t kFirst = kStartsWithPartial ? 0 : 1;
    if constexpr (kSources == 0) {
      for (std::size_t s = kFirst; s < chained; ++s) {
        load_source(s, next);
        combine_line<Op>(value, next);
      }
    } else {
      HWY_UNROLL(8)
      for (std::size_t s = kFirst; s < kSources - kApart; ++s) {
        load_source(s, next);
        combine_line<Op>(value, next);
      }
    }
    if constexpr (kJoinsPartial) {
      V sum[kVectors];
      load_line<Partial, kSplit>(partial + i * Partial::kSize, sum);
      combine_line<Op>(sum, value);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) value[v] = sum[v];
    }
    if constexpr (kHasApart) {
      V group[kVectors];
      load_source(chained, group);
      if constexpr (kApart > 0) {
        HWY_UNROLL(8)
        for (std::size_t s = 1; s < kApart; ++s) {
          load_source(chained + s, next);
          combine_line<Op>(group, next);
        }
      } else {
        for (std::size_t s = 1; s < apart; ++s) {
          load_source(chained + s, next);
          combine_line<Op>(group, next);
        }
      }
      combine_line<Op>(value, group);
    }
    if (divides) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) value[v] = hn::Div(value[v], divisor);
    }
    for (std::size_t t = 0; t < target_count; ++t)
      store_line<Target, kSplit, kStream>(value, targets[t] + i * Target::kSize);
  }
}

/// The same for pairs, which trees and pairs of devices are made of. A count of 0 sources or
/// targets means: read it from the pass.
template <class Source, class Target, std::size_t kSources, std::size_t kTargets, bool kStream>
HWY_NOINLINE void walk_pairs(const Pass& pass, std::size_t line_count) {
  using D = typename Source::D;
  using V = typename Source::V;
  constexpr std::size_t kElements = kLineElements<Source>;
  constexpr std::size_t kVectors = kElements / kLanes<Source>;
  constexpr bool kSplit = kSplits<Source, Target, kStream>;
  const std::size_t source_count = kSources == 0 ? pass.source_count : kSources;
  const std::size_t target_count = kTargets == 0 ? pass.target_count : kTargets;
  const std::array<const std::byte*, kMostPassSources> sources = pass.sources;
  const std::array<std::byte*, kMostPassTargets> targets = pass.targets;
  const bool divides = pass.divisor != 1;
  const V divisor = hn::Set(D(), static_cast<hn::TFromD<D>>(pass.divisor));

  for (std::size_t i = 0; i < line_count * kElements; i += kElements) {
    V value[kVectors];
    V pair[kVectors];
    V next[kVectors];
    const auto load_source = [&](std::size_t s, V(&line)[kVectors]) HWY_ATTR {
      load_line<Source, kSplit>(sources[s] + i * Source::kSize, line);
    };
    load_source(0, value);
    load_source(1, next);
    combine_line<Sum>(value, next);
    HWY_UNROLL(4)
    for (std::size_t s = 2; s < source_count; s += 2) {
      load_source(s, pair);
      load_source(s + 1, next);
      combine_line<Sum>(pair, next);
      combine_line<Sum>(value, pair);
    }
    if (divides) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) value[v] = hn::Div(value[v], divisor);
    }
    for (std::size_t t = 0; t < target_count; ++t)
      store_line<Target, kSplit, kStream>(value, targets[t] + i * Target::kSize);
  }
}

/// The same for expressions of any shape. What waits for its partner lies on a stack.
template <class Source, class Target, bool kStream>
HWY_NOINLINE void walk_nested(const Pass& pass, std::size_t line_count) {
  using D = typename Source::D;
  using V = typename Source::V;
  constexpr std::size_t kElements = kLineElements<Source>;
  constexpr std::size_t kVectors = kElements / kLanes<Source>;
  constexpr bool kSplit = kSplits<Source, Target, kStream>;
  const std::size_t source_count = pass.source_count;
  const std::size_t target_count = pass.target_count;
  const std::array<const std::byte*, kMostPassSources> sources = pass.sources;
  const std::array<std::byte*, kMostPassTargets> targets = pass.targets;
  std::array<std::uint8_t, kMostPassSources> joins;
  std::copy_n(pass.joins, source_count, joins.begin());
  const bool divides = pass.divisor != 1;
  const V divisor = hn::Set(D(), static_cast<hn::TFromD<D>>(pass.divisor));
  V waiting[kMostPassSources][kVectors];

  for (std::size_t i = 0; i < line_count * kElements; i += kElements) {
    V value[kVectors];
    V next[kVectors];
    std::size_t depth = 0;
    load_line<Source, kSplit>(sources[0] + i * Source::kSize, value);
    for (std::size_t s = 1; s < source_count; ++s) {
      load_line<Source, kSplit>(sources[s] + i * Source::kSize, next);
      if (joins[s] == 0) {
        copy_line(value, waiting[depth++]);
        copy_line(next, value);
        continue;
      }
      combine_line<Sum>(value, next);
      for (std::size_t join = 1; join < joins[s]; ++join) {
        copy_line(value, next);
        copy_line(waiting[--depth], value);
        combine_line<Sum>(value, next);
      }
    }
    if (divides) {
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v) value[v] = hn::Div(value[v], divisor);
    }
    for (std::size_t t = 0; t < target_count; ++t)
      store_line<Target, kSplit, kStream>(value, targets[t] + i * Target::kSize);
  }
}

template <class Source, class Target>
Walk sum_nested(const Pass& pass) {
  if constexpr (HWY_TARGET == HWY_SCALAR)
    return walk_nested<Source, Target, false>;
  else
    return pass.streams ? walk_nested<Source, Target, true> : walk_nested<Source, Target, false>;
}

template <class Source, class Target, std::size_t kSources>
Walk sum_pairs(const Pass& pass) {
#if HWY_TARGET == HWY_SCALAR
  (void)pass;
  return walk_pairs<Source, Target, 0, 0, false>;
#else
  if (pass.streams) return walk_pairs<Source, Target, kSources, 0, true>;
  return pass.target_count == kSources ? walk_pairs<Source, Target, kSources, kSources, false>
                                       : walk_pairs<Source, Target, kSources, 0, false>;
#endif
}

template <class Source, class Target, Start kStart, std::size_t kSources, std::size_t kTargets>
Walk sum_walk(const Pass& pass) {
#if HWY_TARGET == HWY_SCALAR
  // A machine without vectors gains nothing from many forms, and the build pays for them.
  (void)pass;
  return walk<Source, Target, Sum, kStart, 0, 0, false>;
#else
  return pass.streams ? walk<Source, Target, Sum, kStart, kSources, kTargets, true>
                      : walk<Source, Target, Sum, kStart, kSources, kTargets, false>;
#endif
}

template <class Source, class Target, std::size_t kSources>
Walk sum_from_first(const Pass& pass) {
  if (pass.target_count == 1)
    return sum_walk<Source, Target, Start::kFirstSource, kSources, 1>(pass);
  if (pass.target_count == kSources)  // a result for each
    return sum_walk<Source, Target, Start::kFirstSource, kSources, kSources>(pass);
  return sum_walk<Source, Target, Start::kFirstSource, kSources, 0>(pass);
}

/// Sums that the library makes all the time.
template <class Source, class Target>
Walk frequent_sum(const Pass& pass) {
  const bool is_single = pass.target_count == 1;
  switch (pass.start) {
    case Start::kGroup:
      return pass.source_count == 8 && is_single
                 ? sum_walk<Source, Target, Start::kGroup, 8, 1>(pass)
                 : sum_walk<Source, Target, Start::kGroup, 0, 0>(pass);
    case Start::kTwoGroups:
      return pass.source_count == 16 && pass.apart_count == kMostSourcesApart && is_single
                 ? sum_walk<Source, Target, Start::kTwoGroups, 16, 1>(pass)
                 : sum_walk<Source, Target, Start::kTwoGroups, 0, 0>(pass);
    case Start::kFirstSourceAndGroup:
      return pass.source_count == 16 && pass.apart_count == kMostSourcesApart && is_single
                 ? sum_walk<Source, Target, Start::kFirstSourceAndGroup, 16, 1>(pass)
                 : sum_walk<Source, Target, Start::kFirstSourceAndGroup, 0, 0>(pass);
    case Start::kPairs:
      return pass.source_count == 4   ? sum_pairs<Source, Target, 4>(pass)
             : pass.source_count == 8 ? sum_pairs<Source, Target, 8>(pass)
                                      : sum_pairs<Source, Target, 0>(pass);
    case Start::kNested:
      return sum_nested<Source, Target>(pass);
    case Start::kPartial:
      return sum_walk<Source, Target, Start::kPartial, 0, 0>(pass);
    case Start::kFirstSource:
      break;
  }
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

/// Sums to and from partials of another type: one loop for each way to start.
template <class Source, class Target>
Walk any_sum(const Pass& pass) {
  switch (pass.start) {
    case Start::kFirstSource:
      return sum_walk<Source, Target, Start::kFirstSource, 0, 0>(pass);
    case Start::kFirstSourceAndGroup:
      return sum_walk<Source, Target, Start::kFirstSourceAndGroup, 0, 0>(pass);
    case Start::kPairs:
      return sum_pairs<Source, Target, 0>(pass);
    case Start::kNested:
      return sum_nested<Source, Target>(pass);
    case Start::kPartial:
      return sum_walk<Source, Target, Start::kPartial, 0, 0>(pass);
    case Start::kGroup:
      return sum_walk<Source, Target, Start::kGroup, 0, 0>(pass);
    default:
      return sum_walk<Source, Target, Start::kTwoGroups, 0, 0>(pass);
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

/// The last elements of a plain sum that starts with its first source, one by one: the bits are
/// those of a vector's lanes. Calls of a few bytes are little more than this.
template <class T>
HWY_INLINE void sum_one_by_one(const Pass& pass, std::size_t begin) {
  for (std::size_t i = begin; i < pass.count; ++i) {
    const auto load = [&](std::size_t s) {
      T value;
      std::memcpy(&value, pass.sources[s] + i * sizeof value, sizeof value);
      return value;
    };
    T sum = load(0);
    for (std::size_t s = 1; s < pass.source_count; ++s) sum += load(s);
    if (pass.divisor != 1) sum /= static_cast<T>(pass.divisor);
    for (std::size_t t = 0; t < pass.target_count; ++t)
      std::memcpy(pass.targets[t] + i * sizeof sum, &sum, sizeof sum);
  }
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
  if constexpr (kIsPlain<Source> && std::is_same_v<Source, Target>)
    if (pass.start == Start::kFirstSource && is_plain_sum(pass))
      return sum_one_by_one<hn::TFromD<typename Source::D>>(pass, done);
  // Only what is used is cleared: a short pass is little more than this.
  alignas(64) std::byte padded[kMostPassSources + 2][kElements * kPartialSize];
  Pass last = pass;
  const auto pad = [&](const std::byte* from, std::size_t size, std::size_t slot) {
    std::memset(padded[slot], 0, sizeof padded[slot]);
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
