#pragma once

#include <cstdint>
#include <string_view>

namespace fanin {

/// How the inputs of all ranks become one. The numbers are stable.
enum class ReduceOp : std::uint8_t { kSum = 0, kMean = 1, kMin = 2, kMax = 3, kProd = 4 };

/// "SUM", "MEAN", "MIN", "MAX", "PROD".
std::string_view name(ReduceOp op);

/// Reads a name in any case. Throws InvalidArgument (kBadReduceOp) and lists the names otherwise.
ReduceOp parse_reduce_op(std::string_view text);

/// Throws InvalidArgument (kBadReduceOp) unless `op` is one of the five (a cast number may not be).
void check(ReduceOp op);

/// Where sums of floating-point numbers are rounded. Integers are the same in all three.
enum class Accumulation : std::uint8_t {
  kWide = 0,    ///< partial sums of float16 and bfloat16 are float32, and round once at the end
  kNative = 1,  ///< at each step to the type of the terms, as TensorFlow does
  kExact = 2,   ///< the exact sum, once, to nearest, ties to even; the same in any order
};

/// "wide", "native" or "exact".
std::string_view name(Accumulation accumulation);

/// Throws InvalidArgument (kBadOption) and lists the names if it is none of them.
Accumulation parse_accumulation(std::string_view text);

/// Throws InvalidArgument (kBadOption) unless it is one of the three (a cast number may not
/// be).
void check(Accumulation accumulation);

}  // namespace fanin
