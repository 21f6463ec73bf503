#pragma once

#include <string>
#include <vector>

#include "fanin/packing.h"

namespace fanin::cli {

/// The gradients of a model that is known by name, or of a file: .safetensors, or .json with a list
/// of objects that have name, dtype and shape. `dtype` is for models by name. Throws
/// InvalidArgument: kBadOption for another name, kBadFile.
std::vector<TensorInfo> read_gradient_list(const std::string& name, DType dtype);

}  // namespace fanin::cli
