#pragma once

#include <nlohmann/json.hpp>

#include "fanin/packing.h"

namespace fanin::cli {

/// The packing arguments among those of a call; absent ones are not set.
Packing packing_of(const nlohmann::json& arguments);

}  // namespace fanin::cli
