#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fanin/reduce_op.h"

namespace fanin {

/// Where the running value of a pass comes from.
enum class Start : std::uint8_t {
  kFirstSource,  ///< source 0, then the others one after the other
  kPartial,      ///< `partial`, then all sources one after the other (there may be none)
  kGroup,        ///< `partial` and the fold of all sources
};

inline constexpr std::size_t kMostPassSources = 9;
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
  std::size_t target_count = 0;
  std::size_t count = 0;  // elements
  const std::byte* partial = nullptr;
  std::array<const std::byte*, kMostPassSources> sources{};
  std::array<std::byte*, kMostPassTargets> targets{};
};

/// Runs a pass for inputs of this type. An op other than kSum, or one that rounds each step, needs
/// exactly one target, of partials, and does not stream.
void run_pass_float16(const Pass& pass);
void run_pass_bfloat16(const Pass& pass);
void run_pass_float32(const Pass& pass);
void run_pass_float64(const Pass& pass);

/// The vector targets that passes are compiled for, as Highway's bits.
std::int64_t pass_targets();

}  // namespace fanin
