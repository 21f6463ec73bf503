#pragma once

#include <nlohmann/json.hpp>

#include "against_limit.h"
#include "run_server.h"

namespace bench {

/// The answer to a case, as ./bench/run reads it.
inline nlohmann::json to_json(const Times& times) {
  return {{"fanin", times.fanin}, {"limit", times.limit}, {"way", times.way}};
}

}  // namespace bench
