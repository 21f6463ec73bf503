#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cli/conformance/values.h"
#include "fanin/cross_device_ops.h"

namespace fanin::cli {

/// Does `op` with the system: create, broadcast, reduce or batch_reduce; nothing if it is none of
/// these. With a worker, only the components of its task are taken.
std::optional<nlohmann::json> run_cross_device(const CrossDeviceOps& ops, std::string_view op,
                                               const nlohmann::json& arguments, Inputs& inputs,
                                               std::optional<int> worker = std::nullopt);

CommunicationOptions parse_options(const nlohmann::json& options);

}  // namespace fanin::cli
