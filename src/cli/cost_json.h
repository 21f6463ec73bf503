#pragma once

#include <nlohmann/json.hpp>

#include "fanin/schedule_cost.h"

namespace fanin::cli {

/// A cost for scripts, in chunks, with the shares of the data that people compare; without links.
nlohmann::ordered_json cost_to_json(const ScheduleCost& cost);

/// [from, to, chunks] of each link that is used.
nlohmann::ordered_json links_to_json(const ScheduleCost& cost);

}  // namespace fanin::cli
