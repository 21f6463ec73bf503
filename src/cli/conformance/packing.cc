#include "cli/conformance/packing.h"

#include <fmt/format.h>

#include "cli/conformance/spec.h"
#include "cli/conformance/systems.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

std::vector<TensorInfo> tensors_of(const json& list) {
  std::vector<TensorInfo> tensors;
  for (const json& tensor : list)
    tensors.push_back({fmt::format("tensor {}", tensors.size()),
                       parse_dtype(tensor.at("dtype").get<std::string>()),
                       Shape(tensor.at("shape").get<std::vector<std::int64_t>>())});
  return tensors;
}

std::vector<std::size_t> members_of(const Pack& pack) {
  std::vector<std::size_t> members;
  for (const Pack::Piece& piece : pack.pieces) members.push_back(piece.tensor);
  return members;
}

}  // namespace

Packing packing_of(const json& arguments) {
  return {
      .bytes_per_pack = arguments.value("bytes_per_pack", std::int64_t{0}),
      .num_packs = arguments.value("num_packs", 0),
      .agg_small_grads_max_bytes = arguments.value("agg_small_grads_max_bytes", std::int64_t{0}),
      .agg_small_grads_max_group = arguments.value("agg_small_grads_max_group", 10)};
}

std::optional<json> run_packing(std::string_view op, const json& arguments, Inputs& /*inputs*/) {
  const Packing packing = packing_of(arguments);
  const std::vector<Pack> packs = make_packs(tensors_of(arguments.at("tensors")), packing);
  std::vector<json> list;
  if (op == "bytes_per_pack") {
    for (const Pack& pack : packs) list.emplace_back(members_of(pack));
    return json{{"packs", list}};
  }
  if (op == "small_grads") {
    for (const Pack& pack : packs) list.emplace_back(members_of(pack));
    return json{{"groups", list}};
  }
  if (op == "num_packs") {
    for (const Pack& pack : packs)
      list.push_back({{"dtype", name(pack.dtype)}, {"elements", pack.element_count()}});
    return json{{"packs", list}};
  }
  if (op != "plan") return std::nullopt;
  const AllReduceSpec spec = parse_spec(arguments.at("all_reduce_spec"));
  for (const Pack& pack : packs) {
    json each = {{"bytes", pack.byte_count()}, {"element", spec.select(pack.byte_count())}};
    if (packing.num_packs > 0) {
      each["dtype"] = name(pack.dtype);
      each["elements"] = pack.element_count();
    } else {
      each["members"] = members_of(pack);
    }
    list.push_back(std::move(each));
  }
  return json{{packing.num_packs > 0 ? "packs" : "groups", list}};
}

}  // namespace fanin::cli
