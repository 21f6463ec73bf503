#pragma once

#include <string_view>

#include "fanin/join.h"

namespace fanin {

/// JoinOptions::from_environment() for a caller who names the engine; "": as the environment says.
JoinOptions read_join_options(std::string_view engine);

}  // namespace fanin
