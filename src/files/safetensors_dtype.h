#pragma once

#include <optional>
#include <string_view>

#include "fanin/dtype.h"

namespace fanin {

/// The dtype that .safetensors files call `name`, such as "F32"; nothing if it is none of ours.
std::optional<DType> find_safetensors_dtype(std::string_view name);

/// "F32" and so on.
std::string_view safetensors_name(DType dtype);

/// Where a dtype stands in the reference implementation's order. Data of higher places come first.
std::size_t safetensors_place(DType dtype);

}  // namespace fanin
