#include "fanin/aggregate.h"

#include "cli/conformance/systems.h"
#include "fanin/aggregator.h"

namespace fanin::cli {
namespace {

/// The most partial sums that wait between two pushes.
std::size_t tree_live_partials(int term_count, const Value& value) {
  Aggregator tree(term_count, AggregationMethod::kExperimentalTree);
  for (int i = 0; i < term_count; ++i) tree.push(value);
  return tree.record().peak_partial_count;
}

}  // namespace

std::optional<nlohmann::json> run_aggregate(std::string_view op, const nlohmann::json& arguments,
                                            Inputs& inputs) {
  if (op == "aggregate") {
    const auto method = static_cast<AggregationMethod>(arguments.at("method").get<std::int32_t>());
    const SumOptions options{.accumulation = accumulation_of(arguments)};
    return sum_to_json(aggregate(inputs.terms(arguments.at("terms")), method, options));
  }
  if (op == "method_number") {
    const auto method = parse_aggregation_method(arguments.at("name").get<std::string>());
    return nlohmann::json{{"number", static_cast<std::int32_t>(method)}};
  }
  if (op == "coalesce") {
    const Value slices = coalesce(inputs.sparse(arguments.at("value")));
    return nlohmann::json{{"value", to_json(slices)}};
  }
  if (op == "tree_live_partials") {
    const std::size_t live =
        tree_live_partials(arguments.at("terms").get<int>(), inputs.value(arguments.at("value")));
    return nlohmann::json{{"at_most", live}};
  }
  return std::nullopt;
}

}  // namespace fanin::cli
