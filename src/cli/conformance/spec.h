#pragma once

#include <nlohmann/json.hpp>

#include "fanin/all_reduce_spec.h"

namespace fanin::cli {

/// A spec of any form. Throws InvalidArgument (kBadSpec) as AllReduceSpec does.
AllReduceSpec parse_spec(const nlohmann::json& spec);

}  // namespace fanin::cli
