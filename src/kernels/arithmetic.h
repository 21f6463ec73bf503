#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/cell.h"
#include "fanin/dtype.h"
#include "fanin/reduce_op.h"

namespace fanin {

/// The type of partial sums: wide enough that only the end rounds.
enum class PartialType : std::uint8_t {
  kFloat32,  // float16, bfloat16, float32
  kFloat64,
  kInt8,  // integers wrap, so their own type is wide enough ...
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kInt128,  // ... but the mean of 64-bit integers is the exact quotient
};

/// How cells are loaded, combined and finished: chosen once by op, dtype and accumulation.
struct Arithmetic {
  ReduceOp op;
  DType input;
  DType result;
  PartialType partial;
  /// float16 and bfloat16 with Accumulation::kNative: every combination rounds to the input type,
  /// so that (a + b) + c and a + b + c still agree, but a partial that travels is rounded too.
  bool rounds_each_step;
  /// The sum of floating-point numbers with Accumulation::kExact: nothing rounds on the way. No
  /// partial cell could hold that, so fold() does not take it.
  bool is_exact;
  /// MEAN divides by this when it finishes; 1 otherwise.
  std::int64_t divisor;

  std::array<std::uint8_t, 3> cell_bytes;  // by Cell

  std::size_t size_of(Cell cell) const { return cell_bytes[static_cast<std::size_t>(cell)]; }

  friend bool operator==(const Arithmetic&, const Arithmetic&) = default;
};

/// `input_count` is the number of terms or ranks, at least 1.
Arithmetic make_arithmetic(ReduceOp op, DType input, Accumulation accumulation,
                           std::int64_t input_count);

/// The dtype that MEAN (and every other op) gives for inputs of type `input`.
DType result_dtype(ReduceOp op, DType input);

}  // namespace fanin
