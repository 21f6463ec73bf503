#include "cli/conformance/spec.h"

#include "cli/conformance/systems.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

AllReduceSpec::Element element_of(const json& tuple) {
  AllReduceSpec::Element element{.algorithm = tuple.at(0).get<std::string>()};
  if (tuple.size() > 1) element.shard_count = tuple.at(1).get<int>();
  if (tuple.size() > 2) element.limit = tuple.at(2).get<std::int64_t>();
  return element;
}

json list_of(const AllReduceSpec& spec) {
  json list = json::array();
  for (const AllReduceSpec::Element& element : spec.elements())
    list.push_back({element.algorithm, element.shard_count, element.limit});
  return list;
}

json elements_of(const AllReduceSpec& spec) {
  json elements = json::array();
  for (const AllReduceSpec::Element& element : spec.elements())
    elements.push_back(
        {{"alg", element.algorithm}, {"shards", element.shard_count}, {"limit", element.limit}});
  return elements;
}

/// Whether the spec, printed in each form, reads back as itself.
bool reads_back(const AllReduceSpec& spec) {
  return AllReduceSpec(to_string(spec)) == spec &&
         parse_spec({{"form", "list"}, {"value", list_of(spec)}}) == spec;
}

}  // namespace

AllReduceSpec parse_spec(const json& spec) {
  const auto form = spec.at("form").get<std::string>();
  const json& value = spec.at("value");
  if (form == "string") return AllReduceSpec(value.get<std::string>());
  if (form == "tuple") return AllReduceSpec(element_of(value));
  std::vector<AllReduceSpec::Element> elements;
  for (const json& tuple : value) elements.push_back(element_of(tuple));
  return AllReduceSpec(std::move(elements));
}

std::optional<json> run_spec(std::string_view op, const json& arguments, Inputs& /*inputs*/) {
  const AllReduceSpec spec = parse_spec(arguments.at("spec"));
  if (op == "parse")
    return json{{"elements",
                 reads_back(spec) ? elements_of(spec) : json("another spec when it is read back")}};
  if (op == "print") return json{{"string", to_string(spec)}, {"list", list_of(spec)}};
  if (op == "select") {
    json chosen = json::array();
    for (const json& bytes : arguments.at("bytes"))
      chosen.push_back(spec.select(bytes.get<std::size_t>()));
    return json{{"elements", chosen}};
  }
  return std::nullopt;
}

}  // namespace fanin::cli
