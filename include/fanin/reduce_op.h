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

/// Where sums of float16 and bfloat16 are rounded: once at the end (partial sums are float32), or
/// at each step, as TensorFlow does. Other types are the same in both.
enum class Accumulation : std::uint8_t { kWide = 0, kNative = 1, kExact = 2 };

/// "wide" or "native".
std::string_view name(Accumulation accumulation);

/// Throws InvalidArgument (kBadOption) and lists the names if it is neither.
Accumulation parse_accumulation(std::string_view text);

/// Throws InvalidArgument (kBadOption) unless it is one of the two (a cast number may not be).
void check(Accumulation accumulation);

}  // namespace fanin
