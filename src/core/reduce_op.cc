#include "fanin/reduce_op.h"

#include <array>

#include "core/require.h"
#include "core/text.h"

namespace fanin {
namespace {

constexpr std::array<std::string_view, 5> kOps = {"SUM", "MEAN", "MIN", "MAX", "PROD"};
constexpr std::array<std::string_view, 3> kAccumulations = {"wide", "native", "exact"};

}  // namespace

std::string_view name(ReduceOp op) {
  check(op);
  return kOps[static_cast<std::size_t>(op)];
}

ReduceOp parse_reduce_op(std::string_view text) {
  const std::string wanted = to_upper(text);
  for (std::size_t i = 0; i < kOps.size(); ++i)
    if (kOps[i] == wanted) return static_cast<ReduceOp>(i);
  throw InvalidArgument(
      ErrorKind::kBadReduceOp,
      fmt::format("\"{}\" is not a reduce op; use SUM, MEAN, MIN, MAX or PROD", text));
}

void check(ReduceOp op) {
  require(static_cast<std::size_t>(op) < kOps.size(), ErrorKind::kBadReduceOp,
          "{} is not a reduce op; use SUM, MEAN, MIN, MAX or PROD", static_cast<int>(op));
}

void check(Accumulation accumulation) {
  require(static_cast<std::size_t>(accumulation) < kAccumulations.size(), ErrorKind::kBadOption,
          "accumulation {} is not known; use wide (0), native (1) or exact (2)",
          static_cast<int>(accumulation));
}

std::string_view name(Accumulation accumulation) {
  check(accumulation);
  return kAccumulations[static_cast<std::size_t>(accumulation)];
}

Accumulation parse_accumulation(std::string_view text) {
  for (std::size_t i = 0; i < kAccumulations.size(); ++i)
    if (kAccumulations[i] == text) return static_cast<Accumulation>(i);
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format(
          "accumulation \"{}\" is not known; use wide (float16 and bfloat16 are summed in "
          "float32 and rounded once), native (rounded at each step) or exact (the exact sum, "
          "rounded once)",
          text));
}

}  // namespace fanin
