#include "distribute/call_line.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/require.h"

namespace fanin {
namespace {

/// FNV-1a over the dimensions: enough to see that two shapes of more than 8 dimensions differ.
std::uint64_t hash_of(const Shape& shape) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::int64_t dim : shape.dims())
    for (int shift = 0; shift < 64; shift += 8)
      hash = (hash ^ (static_cast<std::uint64_t>(dim) >> shift & 0xffU)) * 1099511628211U;
  return hash;
}

std::string shape_text(const CallLine& line) {
  const auto shown = std::min<std::size_t>(line.dim_count, CallLine::kDimCount);
  return fmt::format("[{}{}]", fmt::join(line.dims.begin(), line.dims.begin() + shown, ","),
                     line.dim_count > CallLine::kDimCount ? ",..." : "");
}

std::string_view algorithm_text(const CallLine& line) {
  const auto end = std::ranges::find(line.algorithm, '\0');
  return {line.algorithm.data(), static_cast<std::size_t>(end - line.algorithm.begin())};
}

std::string step_text(const CallLine& line) {
  return line.has_step != 0 ? fmt::format("step {}", line.step) : "no step";
}

std::string_view operation_text(const CallLine& line) {
  return line.operation == CallLine::Operation::kBarrier ? "barrier" : "all_reduce";
}

/// Fails with both texts, which say what the two ranks ask for.
[[noreturn]] void fail(ErrorKind kind, const CallLine& first, std::size_t rank,
                       std::string_view thing, std::string_view of_first,
                       std::string_view of_rank) {
  throw InvalidArgument(
      kind, fmt::format("operation {}: rank 0 has {} {}, rank {} has {}; all ranks must make the "
                        "same calls in the same order",
                        first.sequence, thing, of_first, rank, of_rank));
}

}  // namespace

CallLine make_call_line(std::uint64_t sequence, const Tensor& input,
                        const AllReduceOptions& options) {
  CallLine line;
  line.sequence = sequence;
  line.operation = CallLine::Operation::kAllReduce;
  line.op = static_cast<std::uint8_t>(options.op);
  line.dtype = static_cast<std::uint8_t>(input.dtype());
  line.accumulation = static_cast<std::uint8_t>(options.accumulation);
  line.has_step = options.step ? 1 : 0;
  line.step = options.step.value_or(0);
  const Shape& shape = input.shape();
  line.dim_count = static_cast<std::uint8_t>(std::min<std::size_t>(shape.rank(), 255));
  line.shape_hash = hash_of(shape);
  std::ranges::copy(shape.dims().first(std::min(shape.rank(), CallLine::kDimCount)),
                    line.dims.begin());
  std::ranges::copy(options.algorithm.substr(0, line.algorithm.size()), line.algorithm.begin());
  return line;
}

std::string describe(const CallLine& line) {
  if (line.operation == CallLine::Operation::kBarrier)
    return fmt::format("barrier (operation {})", line.sequence);
  return fmt::format("all_reduce of {} {} by {} (operation {})",
                     name(static_cast<DType>(line.dtype)), shape_text(line), algorithm_text(line),
                     line.sequence);
}

void check_same(std::span<const CallLine> lines) {
  const CallLine& first = lines.front();
  for (std::size_t rank = 1; rank < lines.size(); ++rank) {
    const CallLine& line = lines[rank];
    if (line.sequence != first.sequence)
      fail(ErrorKind::kRankMismatch, first, rank, "entered operation",
           std::to_string(first.sequence), std::to_string(line.sequence));
    if (line.operation != first.operation)
      fail(ErrorKind::kRankMismatch, first, rank, "called", operation_text(first),
           operation_text(line));
    if (line.has_step != first.has_step || line.step != first.step)
      fail(ErrorKind::kRankMismatch, first, rank, "given", step_text(first), step_text(line));
    if (line.dtype != first.dtype)
      fail(ErrorKind::kDtypeMismatch, first, rank, "dtype", name(static_cast<DType>(first.dtype)),
           name(static_cast<DType>(line.dtype)));
    if (line.dim_count != first.dim_count || line.shape_hash != first.shape_hash)
      fail(ErrorKind::kShapeMismatch, first, rank, "shape", shape_text(first), shape_text(line));
    if (line.op != first.op)
      fail(ErrorKind::kRankMismatch, first, rank, "op", name(static_cast<ReduceOp>(first.op)),
           name(static_cast<ReduceOp>(line.op)));
    if (line.accumulation != first.accumulation)
      fail(ErrorKind::kRankMismatch, first, rank, "accumulation",
           name(static_cast<Accumulation>(first.accumulation)),
           name(static_cast<Accumulation>(line.accumulation)));
    if (line.algorithm != first.algorithm)
      fail(ErrorKind::kRankMismatch, first, rank, "algorithm", algorithm_text(first),
           algorithm_text(line));
  }
}

}  // namespace fanin
