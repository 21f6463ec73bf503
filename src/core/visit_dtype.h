#pragma once

#include <type_traits>
#include <utility>

#include "core/require.h"
#include "fanin/dtype.h"

namespace fanin {

/// Calls `visitor` with std::type_identity<T> of the element type. Throws InvalidArgument
/// (kBadOption) for a cast number that is no dtype.
template <typename Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::kFloat16:
      return visitor(std::type_identity<Float16>());
    case DType::kBFloat16:
      return visitor(std::type_identity<BFloat16>());
    case DType::kFloat32:
      return visitor(std::type_identity<float>());
    case DType::kFloat64:
      return visitor(std::type_identity<double>());
    case DType::kInt8:
      return visitor(std::type_identity<std::int8_t>());
    case DType::kInt16:
      return visitor(std::type_identity<std::int16_t>());
    case DType::kInt32:
      return visitor(std::type_identity<std::int32_t>());
    case DType::kInt64:
      return visitor(std::type_identity<std::int64_t>());
    case DType::kUInt8:
      return visitor(std::type_identity<std::uint8_t>());
    case DType::kUInt16:
      return visitor(std::type_identity<std::uint16_t>());
    case DType::kUInt32:
      return visitor(std::type_identity<std::uint32_t>());
    case DType::kUInt64:
      return visitor(std::type_identity<std::uint64_t>());
  }
  throw InvalidArgument(ErrorKind::kBadOption,
                        fmt::format("{} is not a dtype", static_cast<int>(dtype)));
}

}  // namespace fanin
