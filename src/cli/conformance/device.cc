#include "fanin/device.h"

#include "cli/conformance/systems.h"

namespace fanin::cli {
namespace {

std::vector<Device> parse_devices(const nlohmann::json& texts) {
  std::vector<Device> devices;
  for (const nlohmann::json& text : texts) devices.push_back(parse_device(text.get<std::string>()));
  return devices;
}

}  // namespace

std::optional<nlohmann::json> run_device(std::string_view op, const nlohmann::json& arguments,
                                         Inputs& /*inputs*/) {
  if (op == "canonical") {
    const auto text = arguments.at("device").get<std::string>();
    return nlohmann::json{{"device", to_string(parse_device(text))}};
  }
  if (op == "match")
    return nlohmann::json{{"match", same_devices(parse_devices(arguments.at("left")),
                                                 parse_devices(arguments.at("right")))}};
  return std::nullopt;
}

}  // namespace fanin::cli
