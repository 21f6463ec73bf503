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

std::optional<nlohmann::json> run_spec(std::string_view op, const nlohmann::json& arguments,
                                       Inputs& inputs);
std::optional<nlohmann::json> run_packing(std::string_view op, const nlohmann::json& arguments,
                                          Inputs& inputs);
std::optional<nlohmann::json> run_reduction_to_one_device(std::string_view op,
                                                          const nlohmann::json& arguments,
                                                          Inputs& inputs);
std::optional<nlohmann::json> run_hierarchical_copy(std::string_view op,
                                                    const nlohmann::json& arguments,
                                                    Inputs& inputs);
std::optional<nlohmann::json> run_all_reduce_cross_device_ops(std::string_view op,
                                                              const nlohmann::json& arguments,
                                                              Inputs& inputs);
std::optional<nlohmann::json> run_multi_worker_all_reduce(std::string_view op,
                                                          const nlohmann::json& arguments,
                                                          Inputs& inputs);

std::optional<nlohmann::json> run_collective_all_reduce(std::string_view op,
                                                        const nlohmann::json& arguments,
                                                        Inputs& inputs);

/// The systems that are built.
inline constexpr System kSystems[] = {
    {"add_n", run_add_n},
    {"aggregate", run_aggregate},
    {"all_reduce_cross_device_ops", run_all_reduce_cross_device_ops},
    {"collective_all_reduce", run_collective_all_reduce},
    {"device", run_device},
    {"hierarchical_copy", run_hierarchical_copy},
    {"multi_worker_all_reduce", run_multi_worker_all_reduce},
    {"options", run_options},
    {"packing", run_packing},
    {"reduction_to_one_device", run_reduction_to_one_device},
    {"spec", run_spec},
};

}  // namespace fanin::cli
