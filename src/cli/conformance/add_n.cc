#include "fanin/add_n.h"

#include "cli/conformance/systems.h"

namespace fanin::cli {

std::optional<nlohmann::json> run_add_n(std::string_view op, const nlohmann::json& arguments,
                                        Inputs& inputs) {
  if (op != "add_n") return std::nullopt;
  const SumOptions options{.accumulation = accumulation_of(arguments)};
  return sum_to_json(add_n(inputs.terms(arguments.at("terms")), options));
}

}  // namespace fanin::cli
