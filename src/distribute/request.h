#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "distribute/extents.h"
#include "fanin/dtype.h"
#include "fanin/reduce_op.h"
#include "fanin/schedule.h"
#include "fanin/shape.h"

namespace fanin {

/// What a call asks for: all that ranks must agree on, but for the caller's step.
struct Request {
  enum class Operation : std::uint8_t {
    kBarrier,
    kAllReduce,
    kReduce,
    kBroadcast,
    kAllGather,
    kSubgroup,
    kReduceScatter,
    kGather,
    kScatter,
    kAllToAll
  };
  struct Item {
    DType dtype = DType::kFloat32;
    Shape shape = {};  // of a row, without the first axis, where the data is made of parts

    friend bool operator==(const Item&, const Item&) = default;
  };

  Operation operation = Operation::kBarrier;
  ReduceOp op = ReduceOp::kSum;
  Accumulation accumulation = Accumulation::kWide;
  std::string algorithm = {};
  std::optional<int> root = std::nullopt;
  std::vector<Item> items = {};
  Extents extents = {};         // of the parts, if all ranks know them beforehand
  std::vector<int> ranks = {};  // of a subgroup
  int priority = 0;

  friend bool operator==(const Request&, const Request&) = default;
};

/// "all_reduce" and so on.
std::string_view name(Request::Operation operation);

/// What it is for, if it is a collective: not a barrier, not a subgroup.
Goal goal_of(Request::Operation operation);

/// Equal for equal requests, and hardly ever for others. Never 0.
std::uint64_t fingerprint_of(const Request& request);
std::uint64_t fingerprint_of(std::uint64_t request, std::optional<std::int64_t> step);

/// "all_reduce of float32 [2,3] by direct": for messages.
std::string describe(const Request& request);

/// The request as lines of text, at most `most_bytes`: what a rank tells the others when they do
/// not agree.
std::string to_note(const Request& request, std::optional<std::int64_t> step,
                    std::size_t most_bytes);

/// What a rank tells whose arguments were refused.
std::string refusal_note(std::string_view sentence);

/// Throws InvalidArgument for the first thing in which the notes, one a rank, differ:
/// kShapeMismatch, kDtypeMismatch, otherwise kRankMismatch. The message names the operation, two
/// ranks and what each asks for; it is the same on all ranks.
[[noreturn]] void throw_mismatch(std::span<const std::string> notes, std::uint64_t operation);

}  // namespace fanin
