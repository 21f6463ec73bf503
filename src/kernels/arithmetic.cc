#include "kernels/arithmetic.h"

#include <cassert>
#include <stdexcept>

namespace fanin {
namespace {

bool is_64_bit_integer(DType dtype) { return dtype == DType::kInt64 || dtype == DType::kUInt64; }

/// Integers wrap in their own type.
PartialType wrapping_type(DType input) {
  switch (input) {
    case DType::kInt8:
      return PartialType::kInt8;
    case DType::kInt16:
      return PartialType::kInt16;
    case DType::kInt32:
      return PartialType::kInt32;
    case DType::kInt64:
      return PartialType::kInt64;
    case DType::kUInt8:
      return PartialType::kUInt8;
    case DType::kUInt16:
      return PartialType::kUInt16;
    case DType::kUInt32:
      return PartialType::kUInt32;
    case DType::kUInt64:
      return PartialType::kUInt64;
    default:
      throw std::logic_error("not an integer type");
  }
}

PartialType partial_type(ReduceOp op, DType input) {
  if (is_floating(input))
    return input == DType::kFloat64 ? PartialType::kFloat64 : PartialType::kFloat32;
  if (op != ReduceOp::kMean) return wrapping_type(input);
  return is_64_bit_integer(input) ? PartialType::kInt128 : PartialType::kInt64;
}

std::uint8_t size_of_partial(PartialType partial) {
  switch (partial) {
    case PartialType::kInt8:
    case PartialType::kUInt8:
      return 1;
    case PartialType::kInt16:
    case PartialType::kUInt16:
      return 2;
    case PartialType::kFloat32:
    case PartialType::kInt32:
    case PartialType::kUInt32:
      return 4;
    case PartialType::kFloat64:
    case PartialType::kInt64:
    case PartialType::kUInt64:
      return 8;
    case PartialType::kInt128:
      return 16;
  }
  throw std::logic_error("a partial type has no size");
}

}  // namespace

Arithmetic make_arithmetic(ReduceOp op, DType input, Accumulation accumulation,
                           std::int64_t input_count) {
  assert(input_count >= 1);
  const bool is_sum = op == ReduceOp::kSum || op == ReduceOp::kMean;
  const bool is_half = input == DType::kFloat16 || input == DType::kBFloat16;
  const DType result = result_dtype(op, input);
  const PartialType partial = partial_type(op, input);
  return {.op = op,
          .input = input,
          .result = result,
          .partial = partial,
          .rounds_each_step = is_half && accumulation == Accumulation::kNative,
          .is_exact = is_sum && is_floating(input) && accumulation == Accumulation::kExact,
          .divisor = op == ReduceOp::kMean ? input_count : 1,
          .cell_bytes = {static_cast<std::uint8_t>(size_of(input)), size_of_partial(partial),
                         static_cast<std::uint8_t>(size_of(result))}};
}

DType result_dtype(ReduceOp op, DType input) {
  if (op != ReduceOp::kMean || is_floating(input)) return input;
  return size_of(input) <= 2 ? DType::kFloat32 : DType::kFloat64;
}

}  // namespace fanin
