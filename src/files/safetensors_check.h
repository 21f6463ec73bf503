#pragma once

#include <span>
#include <vector>

#include "files/safetensors_json.h"

namespace fanin {

/// The tensors in the order of their data. Throws InvalidArgument (kBadFile) with a sentence that
/// has the file as its subject unless dtypes are ours, sizes follow from shapes, and each tensor
/// begins where the one before it ends.
std::vector<SafetensorsEntry> check_safetensors(std::span<const SafetensorsJson::Tensor> tensors);

}  // namespace fanin
