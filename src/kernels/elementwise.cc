#include "kernels/elementwise.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/fold.h"

namespace fanin {
namespace {

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// To a float whose last digit is 1 if anything was cut off, so that rounding it further is as if
/// it were the first rounding.
float cut_to_float(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

/// The same for integers that a double cannot hold.
template <typename Integer>
double cut_to_double(Integer value) {
  const bool is_negative = value < 0;
  auto magnitude = static_cast<std::uint64_t>(value);  // NOLINT(bugprone-signed-char-misuse)
  if (is_negative) magnitude = 0 - magnitude;
  constexpr std::uint64_t kBeyond = (1U << 11) - 1;
  if (magnitude >> 53 != 0 && (magnitude & kBeyond) != 0)
    magnitude = (magnitude & ~kBeyond) | (kBeyond + 1);
  const auto cut = static_cast<double>(magnitude);
  return is_negative ? -cut : cut;
}

template <typename Integer, typename Float>
Integer limit_to(Float value) {
  if (std::isnan(value)) return 0;
  using Limits = std::numeric_limits<Integer>;
  // The end above is a power of two less one: the power is exact in every floating-point type.
  const Float beyond = std::ldexp(Float{1}, Limits::digits);
  if (value >= beyond) return Limits::max();
  if (value <= (Limits::is_signed ? -beyond : Float{0})) return Limits::min();
  return static_cast<Integer>(value);
}

template <typename To, typename From>
To convert_one(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsHalf<From>) {
    return convert_one<To>(static_cast<float>(value));
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_same_v<From, float>)
      return To(value);
    else if constexpr (std::is_same_v<From, double>)
      return To(cut_to_float(value));
    else
      return To(cut_to_float(cut_to_double(value)));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return limit_to<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Calls `call` with a value of the C++ type of `dtype`.
template <typename Call>
void with_type(DType dtype, Call call) {
  switch (dtype) {
    case DType::kFloat16:
      return call(Float16());
    case DType::kBFloat16:
      return call(BFloat16());
    case DType::kFloat32:
      return call(float{});
    case DType::kFloat64:
      return call(double{});
    case DType::kInt8:
      return call(std::int8_t{});
    case DType::kInt16:
      return call(std::int16_t{});
    case DType::kInt32:
      return call(std::int32_t{});
    case DType::kInt64:
      return call(std::int64_t{});
    case DType::kUInt8:
      return call(std::uint8_t{});
    case DType::kUInt16:
      return call(std::uint16_t{});
    case DType::kUInt32:
      return call(std::uint32_t{});
    case DType::kUInt64:
      return call(std::uint64_t{});
  }
}

/// Between a half and its partial type, float32, by vectors.
void convert_half(DType half, Cell from_cell, const std::byte* from, Cell to_cell, std::byte* to,
                  std::size_t count) {
  const Operand source{from, from_cell};
  fold(make_arithmetic(ReduceOp::kSum, half, Accumulation::kWide, 1),
       {.sources = {&source, 1}, .targets = {&to, 1}, .target_cell = to_cell, .count = count});
}

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

template <typename Float>
void scale_plainly(const std::byte* from, std::byte* to, Float factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Float value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    value *= factor;
    std::memcpy(to + i * sizeof value, &value, sizeof value);
  }
}

}  // namespace

void convert(DType from_dtype, const std::byte* from, DType to_dtype, std::byte* to,
             std::size_t count) {
  if (is_half(from_dtype) && to_dtype == DType::kFloat32)
    return convert_half(from_dtype, Cell::kInput, from, Cell::kPartial, to, count);
  if (is_half(to_dtype) && from_dtype == DType::kFloat32)
    return convert_half(to_dtype, Cell::kPartial, from, Cell::kResult, to, count);
  with_type(from_dtype, [&]<typename From>(From) {
    with_type(to_dtype, [&]<typename To>(To) {
      for (std::size_t i = 0; i < count; ++i) {
        From value;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        const To converted = convert_one<To>(value);
        std::memcpy(to + i * sizeof converted, &converted, sizeof converted);
      }
    });
  });
}

void scale(DType dtype, const std::byte* from, std::byte* to, double factor, std::size_t count) {
  assert(is_floating(dtype));
  if (dtype == DType::kFloat64) return scale_plainly<double>(from, to, factor, count);
  const auto single = static_cast<float>(factor);
  if (dtype == DType::kFloat32) return scale_plainly<float>(from, to, single, count);
  constexpr std::size_t kBlock = 1024;
  alignas(64) std::byte wide[kBlock * sizeof(float)];
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::size_t here = std::min(kBlock, count - i);
    convert(dtype, from + i * 2, DType::kFloat32, wide, here);
    scale_plainly<float>(wide, wide, single, here);
    convert(DType::kFloat32, wide, dtype, to + i * 2, here);
  }
}

void divide(DType dtype, const std::byte* from, std::byte* to, std::int64_t divisor,
            std::size_t count) {
  const Operand source{from};
  fold(make_arithmetic(ReduceOp::kMean, dtype, Accumulation::kWide, divisor),
       {.sources = {&source, 1}, .targets = {&to, 1}, .count = count});
}

}  // namespace fanin
