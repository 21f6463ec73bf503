#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/conformance/values.h"

namespace fanin::cli {

/// One of the systems that the cases are about.
struct System {
  std::string_view name;

  /// Does what `op` asks with its inputs and gives the answer in the form of `expected`, or nothing
  /// if this op is not built yet. Throws an Error where the library does.
  std::optional<nlohmann::json> (*run)(std::string_view op, const nlohmann::json& arguments,
                                       Inputs& inputs);
};

std::optional<nlohmann::json> run_add_n(std::string_view op, const nlohmann::json& arguments,
                                        Inputs& inputs);
std::optional<nlohmann::json> run_aggregate(std::string_view op, const nlohmann::json& arguments,
                                            Inputs& inputs);
std::optional<nlohmann::json> run_device(std::string_view op, const nlohmann::json& arguments,
                                         Inputs& inputs);
std::optional<nlohmann::json> run_options(std::string_view op, const nlohmann::json& arguments,
                                          Inputs& inputs);

/// The systems that are built.
inline constexpr System kSystems[] = {
    {"add_n", run_add_n},
    {"aggregate", run_aggregate},
    {"device", run_device},
    {"options", run_options},
};

}  // namespace fanin::cli
