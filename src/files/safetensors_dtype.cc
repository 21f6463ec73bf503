#include "files/safetensors_dtype.h"

#include <array>
#include <cassert>

namespace fanin {
namespace {

struct NamedDType {
  std::string_view name;
  DType dtype;
};

// In the reference implementation's order, which never lets the size of an element decrease.
constexpr std::array kDTypes = {
    NamedDType{"U8", DType::kUInt8},    NamedDType{"I8", DType::kInt8},
    NamedDType{"I16", DType::kInt16},   NamedDType{"U16", DType::kUInt16},
    NamedDType{"F16", DType::kFloat16}, NamedDType{"BF16", DType::kBFloat16},
    NamedDType{"I32", DType::kInt32},   NamedDType{"U32", DType::kUInt32},
    NamedDType{"F32", DType::kFloat32}, NamedDType{"F64", DType::kFloat64},
    NamedDType{"I64", DType::kInt64},   NamedDType{"U64", DType::kUInt64},
};
static_assert(kDTypes.size() == kDTypeCount);

}  // namespace

std::optional<DType> find_safetensors_dtype(std::string_view name) {
  for (const NamedDType& known : kDTypes)
    if (known.name == name) return known.dtype;
  return std::nullopt;
}

std::string_view safetensors_name(DType dtype) { return kDTypes[safetensors_place(dtype)].name; }

std::size_t safetensors_place(DType dtype) {
  std::size_t place = 0;
  while (place < kDTypes.size() && kDTypes[place].dtype != dtype) ++place;
  assert(place < kDTypes.size());
  return place;
}

}  // namespace fanin
