#include "fanin/add_n.h"

#include "cli/conformance/systems.h"

namespace fanin::cli {

std::optional<nlohmann::json> run_add_n(std::string_view op, const nlohmann::json& arguments,
                                        Inputs& inputs) {
  if (op != "add_n") return std::nullopt;
  std::vector<std::optional<Value>> terms;
  for (const nlohmann::json& term : arguments.at("terms")) terms.push_back(inputs.term(term));
  const auto accumulation = arguments.value("accumulation", std::string("default"));
  const SumOptions options{.accumulation = accumulation == "default"
                                               ? Accumulation::kWide
                                               : parse_accumulation(accumulation)};
  const auto sum = add_n(terms, options);
  if (!sum) return nlohmann::json{{"none", true}};
  return nlohmann::json{{"value", to_json(*sum)}};
}

}  // namespace fanin::cli
