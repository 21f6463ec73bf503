#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "fanin/tensor.h"

namespace fanin::cli {

/// The functions that cases name. Throws InvalidArgument (kBadFile) for another name.
std::function<Tensor(std::span<const Tensor>)> find_accumulation_fn(std::string_view name);

}  // namespace fanin::cli
