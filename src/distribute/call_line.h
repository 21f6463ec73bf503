#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fanin/group.h"

namespace fanin {

/// What a rank says about the operation that it enters, before anything else: compared by all, so
/// that ranks that ask for different things get an error and never a wrong sum. Plain bytes, since
/// it crosses processes.
struct CallLine {
  enum class Operation : std::uint8_t { kBarrier = 1, kAllReduce = 2 };
  static constexpr std::size_t kDimCount = 8;

  std::uint64_t sequence = 0;
  Operation operation = Operation::kBarrier;
  std::uint8_t op = 0;
  std::uint8_t dtype = 0;
  std::uint8_t accumulation = 0;
  std::uint8_t has_step = 0;
  std::uint8_t dim_count = 0;  // of the shape, which may have more than there is room for
  std::array<std::uint8_t, 2> unused{};
  std::int64_t step = 0;
  std::uint64_t shape_hash = 0;  // of all dimensions
  std::array<std::int64_t, kDimCount> dims{};
  std::array<char, 32> algorithm{};
};
static_assert(sizeof(CallLine) == 128);

CallLine make_call_line(std::uint64_t sequence, const Tensor& input,
                        const AllReduceOptions& options);

/// "all_reduce 3 of float32 [2,3] by direct": for messages.
std::string describe(const CallLine& line);

/// Throws InvalidArgument if the lines, one a rank, do not all ask for the same: kShapeMismatch,
/// kDtypeMismatch, otherwise kRankMismatch. The message names two ranks and what each asks for; it
/// is the same on all ranks.
void check_same(std::span<const CallLine> lines);

}  // namespace fanin
