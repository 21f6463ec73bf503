#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fanin {

/// Element types. The numbers are stable.
enum class DType : std::uint8_t {
  kFloat16 = 0,
  kBFloat16 = 1,
  kFloat32 = 2,
  kFloat64 = 3,
  kInt8 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kUInt8 = 8,
  kUInt16 = 9,
  kUInt32 = 10,
  kUInt64 = 11,
};

inline constexpr int kDTypeCount = 12;

/// Bytes of one element. Throws InvalidArgument (kBadOption), as name() does, for a cast number
/// that is no dtype.
std::size_t size_of(DType dtype);

/// "float32", "bfloat16", "uint8" and so on.
std::string_view name(DType dtype);

/// The type that `name` names. Throws InvalidArgument (kBadOption) and lists the names otherwise.
DType parse_dtype(std::string_view name);

bool is_floating(DType dtype);

/// IEEE binary16, for storage: convert to float to compute.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);  ///< rounds to nearest, ties to even
  explicit operator float() const;
  static Float16 from_bits(std::uint16_t bits);
};

/// The upper half of a float, for storage: convert to float to compute.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);  ///< rounds to nearest, ties to even
  explicit operator float() const;
  static BFloat16 from_bits(std::uint16_t bits);
};

/// The DType of a C++ element type: dtype_of<float> is DType::kFloat32.
template <typename T>
inline constexpr DType dtype_of = DType{255};
template <>
inline constexpr DType dtype_of<Float16> = DType::kFloat16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType dtype_of<float> = DType::kFloat32;
template <>
inline constexpr DType dtype_of<double> = DType::kFloat64;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::kInt8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::kInt16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::kUInt8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::kUInt16;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::kUInt32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::kUInt64;

/// A C++ type that is the element type of some DType.
template <typename T>
concept Element = (dtype_of<T> != DType{255});

}  // namespace fanin
