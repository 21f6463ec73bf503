#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fanin/dtype.h"
#include "fanin/reduce_op.h"

namespace fanin {

/// Where the running value of a pass comes from, and how the sources join it.
enum class Start : std::uint8_t {
  kFirstSource,          ///< source 0, then the others one after the other
  kFirstSourceAndGroup,  ///< the same, but the last sources are folded first and join as one
  kPairs,                ///< (source 0 + source 1) + (source 2 + source 3) + ...
  kNested,               ///< as `joins` say
  kPartial,              ///< `partial`, then all sources one after the other (there may be none)
  kGroup,                ///< `partial`, and all sources as one group
  kTwoGroups,            ///< `partial`, a group, and the last sources as another group
};

/// Whether some of the last sources are a group apart.
constexpr bool has_group_apart(Start start) {
  return start == Start::kFirstSourceAndGroup || start == Start::kTwoGroups;
}

inline constexpr std::size_t kMostChainedSources = 9;
inline constexpr std::size_t kMostSourcesApart = 8;
inline constexpr std::size_t kMostPassSources = kMostChainedSources + kMostSourcesApart;
inline constexpr std::size_t kMostPassTargets = 8;

/// One walk over floating-point memory that holds the running value in registers. All sources hold
/// the same type. Any alignment, but streaming wants targets on 64-byte borders.
struct Pass {
  ReduceOp op = ReduceOp::kSum;  // not kMean
  Start start = Start::kFirstSource;
  bool sources_are_partials = false;
  bool targets_are_partials = false;
  bool rounds_each_step = false;
  bool streams = false;
  double divisor = 1;  // of what is stored
  std::size_t source_count = 0;
  std::size_t apart_count = 0;  // of the last sources, where there is a group apart
  std::size_t target_count = 0;
  std::size_t count = 0;  // elements
  const std::byte* partial = nullptr;
  const std::uint8_t* joins = nullptr;  // kNested: after each source, how often two values join
  // Not cleared, which would take a good part of a short pass.
  std::array<const std::byte*, kMostPassSources> sources;
  std::array<std::byte*, kMostPassTargets> targets;
};

/// Runs a pass for inputs of this type. An op other than kSum, or one that rounds each step, needs
/// exactly one target, of partials, does not stream, and has no group apart.
void run_pass_float16(const Pass& pass);
void run_pass_bfloat16(const Pass& pass);
void run_pass_float32(const Pass& pass);
void run_pass_float64(const Pass& pass);

using RunPass = void (*)(const Pass& pass);

/// What runs passes over floating-point inputs of this type.
inline RunPass runner_for(DType input) {
  switch (input) {
    case DType::kFloat16:
      return run_pass_float16;
    case DType::kBFloat16:
      return run_pass_bfloat16;
    case DType::kFloat32:
      return run_pass_float32;
    default:
      return run_pass_float64;
  }
}

/// The vector targets that passes are compiled for, as Highway's bits.
std::int64_t pass_targets();

}  // namespace fanin
