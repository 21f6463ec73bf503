// The systems that reduce values of several replicas. They differ in how they are made.

#include "cli/conformance/cross_device.h"

#include "cli/conformance/accumulation_fns.h"
#include "cli/conformance/packing.h"
#include "cli/conformance/spec.h"
#include "cli/conformance/systems.h"
#include "core/require.h"
#include "fanin/all_reduce_cross_device_ops.h"
#include "fanin/multi_worker_all_reduce.h"
#include "fanin/reduction_to_one_device.h"

namespace fanin::cli {
namespace {

using nlohmann::json;

Destinations destinations_on(const json& devices) {
  std::vector<Value> values;
  for (const json& device : devices)
    values.emplace_back(Tensor().on(parse_device(device.get<std::string>())));
  return PerReplica(std::move(values));
}

/// `self` is the value that is reduced, if there is one.
Destinations destinations_of(const json& destinations, const PerReplica* self) {
  const auto kind = destinations.at("kind").get<std::string>();
  if (kind == "self") return *self;
  if (destinations.contains("devices") && kind != "list")
    return destinations_on(destinations.at("devices"));
  const auto device = destinations.value("device", std::string());
  // A tensor or a variable always lives somewhere; only its device can be left out.
  if (kind == "device" || device.empty()) return std::string_view(device);
  const Tensor tensor = Tensor().on(parse_device(device));
  if (kind == "variable") return Variable(tensor);
  return tensor;
}

/// The components that a worker has.
PerReplica components(const json& value, Inputs& inputs, std::optional<int> worker) {
  PerReplica all = per_replica(value, inputs);
  if (!worker) return all;
  std::vector<Value> own;
  for (const Value& each : all.values())
    if (device_of(each).task == *worker) own.push_back(each);
  return PerReplica(std::move(own));
}

}  // namespace

std::optional<json> run_cross_device(const CrossDeviceOps& ops, std::string_view op,
                                     const json& arguments, Inputs& inputs,
                                     std::optional<int> worker) {
  if (op == "create") return json{{"ok", true}};
  if (op == "broadcast") {
    const Value value = inputs.value(arguments.at("value"));
    const Result result =
        ops.broadcast(value, destinations_of(arguments.at("destinations"), nullptr));
    return json{{"result", result_to_json(result)}};
  }
  const ReduceOp reduce_op = parse_reduce_op(arguments.at("reduce_op").get<std::string>());
  if (op == "reduce") {
    const PerReplica value = components(arguments.at("value"), inputs, worker);
    const Result result =
        ops.reduce(reduce_op, value, destinations_of(arguments.at("destinations"), &value));
    return json{{"result", result_to_json(result)}};
  }
  if (op != "batch_reduce") return std::nullopt;
  std::vector<ReducePair> pairs;
  for (const json& pair : arguments.at("pairs")) {
    const PerReplica value = components(pair.at("value"), inputs, worker);
    pairs.push_back({value, destinations_of(pair.at("destinations"), &value)});
  }
  json results = json::array();
  for (const Result& result : ops.batch_reduce(reduce_op, pairs))
    results.push_back(result_to_json(result));
  return json{{"results", results}};
}

std::optional<json> run_reduction_to_one_device(std::string_view op, const json& arguments,
                                                Inputs& inputs) {
  std::optional<std::string> device;
  if (arguments.contains("reduce_to_device") && !arguments.at("reduce_to_device").is_null())
    device = arguments.at("reduce_to_device").get<std::string>();
  std::function<Tensor(std::span<const Tensor>)> fn;
  if (arguments.contains("accumulation_fn") && !arguments.at("accumulation_fn").is_null())
    fn = find_accumulation_fn(arguments.at("accumulation_fn").get<std::string>());
  return run_cross_device(ReductionToOneDevice(device, fn), op, arguments, inputs);
}

std::optional<json> run_hierarchical_copy(std::string_view op, const json& arguments,
                                          Inputs& inputs) {
  return run_cross_device(HierarchicalCopyAllReduce(arguments.value("num_packs", 1)), op, arguments,
                          inputs);
}

std::optional<json> run_all_reduce_cross_device_ops(std::string_view op, const json& arguments,
                                                    Inputs& inputs) {
  const Packing packing = packing_of(arguments);
  return run_cross_device(
      AllReduceCrossDeviceOps(arguments.value("algorithm", std::string("nccl")),
                              arguments.value("num_packs", 1), packing.agg_small_grads_max_bytes,
                              packing.agg_small_grads_max_group),
      op, arguments, inputs);
}

std::optional<json> run_multi_worker_all_reduce(std::string_view op, const json& arguments,
                                                Inputs& inputs) {
  const Packing packing = packing_of(arguments);
  MultiWorkerAllReduceOptions options{
      .num_packs = packing.num_packs,
      .agg_small_grads_max_bytes = packing.agg_small_grads_max_bytes,
      .agg_small_grads_max_group = packing.agg_small_grads_max_group};
  if (arguments.contains("all_reduce_spec"))
    options.all_reduce_spec = parse_spec(arguments.at("all_reduce_spec"));
  const auto workers = arguments.at("worker_devices").get<std::vector<std::string>>();
  return run_cross_device(
      MultiWorkerAllReduce(workers, arguments.at("num_gpus_per_worker").get<int>(), options), op,
      arguments, inputs);
}

}  // namespace fanin::cli
