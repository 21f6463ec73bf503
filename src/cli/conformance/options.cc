#include "cli/conformance/cross_device.h"
#include "cli/conformance/systems.h"
#include "fanin/communication_options.h"

namespace fanin::cli {
namespace {

std::optional<double> timeout_of(const nlohmann::json& options) {
  const auto found = options.find("timeout_seconds");
  if (found == options.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

nlohmann::json answer(const CommunicationOptions& options) {
  check(options);
  const auto& timeout = options.timeout_seconds;
  return {{"options",
           {{"bytes_per_pack", options.bytes_per_pack},
            {"timeout_seconds", timeout ? nlohmann::json(*timeout) : nlohmann::json()},
            {"implementation", name(options.implementation)}}}};
}

}  // namespace

CommunicationOptions parse_options(const nlohmann::json& options) {
  return {
      .bytes_per_pack = options.value("bytes_per_pack", std::int64_t{0}),
      .timeout_seconds = timeout_of(options),
      .implementation = parse_implementation(options.value("implementation", std::string("AUTO")))};
}

std::optional<nlohmann::json> run_options(std::string_view op, const nlohmann::json& arguments,
                                          Inputs& /*inputs*/) {
  if (op == "create") return answer(parse_options(arguments));
  if (op == "create_hints")
    return answer(CollectiveHints{.bytes_per_pack = arguments.value("bytes_per_pack", 0L),
                                  .timeout_seconds = timeout_of(arguments)});
  if (op == "merge") {
    std::optional<CommunicationOptions> other;
    if (!arguments.at("other").is_null()) other = parse_options(arguments.at("other"));
    return answer(merge(parse_options(arguments.at("base")), other));
  }
  return std::nullopt;
}

}  // namespace fanin::cli
