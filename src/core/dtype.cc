#include "fanin/dtype.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "core/require.h"

namespace fanin {
namespace {

struct DTypeEntry {
  std::string_view name;
  std::size_t size;
};

// In the order of the enum.
constexpr std::array<DTypeEntry, kDTypeCount> kDTypes = {{{"float16", 2},
                                                          {"bfloat16", 2},
                                                          {"float32", 4},
                                                          {"float64", 8},
                                                          {"int8", 1},
                                                          {"int16", 2},
                                                          {"int32", 4},
                                                          {"int64", 8},
                                                          {"uint8", 1},
                                                          {"uint16", 2},
                                                          {"uint32", 4},
                                                          {"uint64", 8}}};

const DTypeEntry& entry(DType dtype) {
  const auto number = static_cast<std::size_t>(dtype);
  if (number < kDTypes.size()) [[likely]]
    return kDTypes[number];
  throw InvalidArgument(ErrorKind::kBadOption,
                        fmt::format("{} is not the number of a dtype", number));
}

}  // namespace

std::size_t size_of(DType dtype) { return entry(dtype).size; }

std::string_view name(DType dtype) { return entry(dtype).name; }

DType parse_dtype(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
    known += (i == 0 ? "" : ", ") + std::string(kDTypes[i].name);
  }
  throw InvalidArgument(ErrorKind::kBadOption,
                        fmt::format("\"{}\" is not a dtype; use one of {}", name, known));
}

bool is_floating(DType dtype) { return dtype <= DType::kFloat64; }

Float16 Float16::from_bits(std::uint16_t bits) {
  Float16 value;
  value.bits = bits;
  return value;
}

Float16::Float16(float value) {
  const auto single = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(single >> 16 & 0x8000U);
  const std::uint32_t magnitude = single & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {  // NaN: keep the upper payload, make it quiet
    bits = static_cast<std::uint16_t>(sign | 0x7e00U | (magnitude >> 13 & 0x3ffU));
  } else if (magnitude >= 0x477ff000U) {  // rounds to 65536 or more
    bits = static_cast<std::uint16_t>(sign | 0x7c00U);
  } else if (magnitude >= 0x38800000U) {  // normal: add half of the last place, ties to even
    const std::uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1U);
    bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
  } else {  // subnormal: adding 0.5 moves the last place of a half to the last place of a float
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000U));
  }
}

Float16::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00U)  // infinity, or NaN (made quiet)
    return std::bit_cast<float>(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13 |
                                (magnitude > 0x7c00U ? 0x400000U : 0U));
  if (magnitude >= 0x400U)  // normal: move the exponent from bias 15 to 127
    return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
  // Subnormal: the same way back. No operand is a subnormal float, so that a thread which takes
  // those for zero gets the same bits.
  const float value = std::bit_cast<float>(0x3f000000U | magnitude) - 0.5F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

BFloat16 BFloat16::from_bits(std::uint16_t bits) {
  BFloat16 value;
  value.bits = bits;
  return value;
}

BFloat16::BFloat16(float value) {
  const auto single = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (single & 0x7fffffffU) > 0x7f800000U;
  bits = static_cast<std::uint16_t>(is_nan ? (single >> 16 | 0x40U)
                                           : (single + 0x7fffU + (single >> 16 & 1U)) >> 16);
}

BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace fanin
