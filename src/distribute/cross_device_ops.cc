#include "fanin/cross_device_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "aggregation/term_check.h"
#include "core/require.h"
#include "distribute/dense_component.h"
#include "distribute/divided.h"
#include "distribute/plan_cache.h"
#include "fanin/add_n.h"

namespace fanin {
namespace {

bool is_dense(const PerReplica& value) {
  return std::ranges::all_of(
      value.values(), [](const Value& each) { return std::holds_alternative<Tensor>(each); });
}

/// Whether all are dense, of one dtype and shape: the usual case, told without lists.
bool is_uniform(const PerReplica& value) {
  const auto* first = std::get_if<Tensor>(&value.values().front());
  return first != nullptr && std::ranges::all_of(value.values(), [&](const Value& each) {
           const auto* tensor = std::get_if<Tensor>(&each);
           return tensor != nullptr && tensor->dtype() == first->dtype() &&
                  tensor->shape() == first->shape();
         });
}

/// Throws unless the replicas' values fit together, and the op is for them.
void check_value(ReduceOp op, const PerReplica& value) {
  require(!value.values().empty(), ErrorKind::kEmpty,
          "a value without components cannot be reduced; give one for each replica");
  if (is_uniform(value)) return;
  std::vector<Term> terms;
  for (std::size_t i = 0; i < value.values().size(); ++i) terms.push_back({&value.values()[i], i});
  check_terms(terms);
  require(is_dense(value) || op == ReduceOp::kSum || op == ReduceOp::kMean, ErrorKind::kBadReduceOp,
          "{} of sparse values is not defined; use SUM or MEAN", name(op));
}

/// Named by their positions in the caller's list, where these are known.
std::vector<TensorInfo> infos_of(std::span<const std::size_t> positions,
                                 std::span<const PerReplica* const> values) {
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor& first = dense(*values[i], 0);
    infos.push_back({fmt::format("value {}", positions.empty() ? i : positions[i]), first.dtype(),
                     first.shape()});
  }
  return infos;
}

bool on_same_devices(const PerReplica& left, const PerReplica& right) {
  return std::ranges::equal(left.values(), right.values(), {}, device_of, device_of);
}

std::optional<std::chrono::duration<double>> timeout_of(const CommunicationOptions& options) {
  if (!options.timeout_seconds) return std::nullopt;
  return std::chrono::duration<double>(*options.timeout_seconds);
}

/// Notes on options that change nothing here.
std::vector<std::string> notes_on(const CommunicationOptions& options) {
  if (options.implementation == Implementation::kAuto) return {};
  return {
      fmt::format("implementation {} is a hint for collectives between processes; here the "
                  "algorithm is the object's own",
                  name(options.implementation))};
}

std::vector<std::string> notes_on(std::span<const Device> devices) {
  const bool has_gpu =
      std::ranges::any_of(devices, [](const Device& device) { return device.type == "GPU"; });
  if (!has_gpu) return {};
  return {"devices named GPU are memory of this host: there is no accelerator in this build"};
}

}  // namespace

const Value& value_on(const Result& result, const Device& device) {
  if (const auto* mirrored = std::get_if<Mirrored>(&result)) return mirrored->on(device);
  const Value& value = std::get<Value>(result);
  if (device_of(value) != device)
    throw InvalidArgument(ErrorKind::kBadDevice,
                          fmt::format("there is no component on {}, only one on {}",
                                      to_string(device), to_string(device_of(value))));
  return value;
}

CrossDeviceOps::CrossDeviceOps() : plans_(std::make_unique<PlanCache>()) {}
CrossDeviceOps::~CrossDeviceOps() = default;

CrossDeviceOps::Placement CrossDeviceOps::place(std::span<const Device> devices) const {
  Placement placement{{.worker_count = 1, .devices_per_worker = static_cast<int>(devices.size())},
                      std::vector<std::size_t>(devices.size())};
  std::iota(placement.input_of_rank.begin(), placement.input_of_rank.end(), std::size_t{0});
  return placement;
}

std::vector<std::string> CrossDeviceOps::notes(const CommunicationOptions& /*options*/) const {
  return {};
}

std::string CrossDeviceOps::between_processes(const CommunicationOptions& /*options*/) const {
  return {};
}

ReductionRequest CrossDeviceOps::make_request(ReduceOp op, const Topology& topology,
                                              std::vector<TensorInfo> tensors,
                                              const CommunicationOptions& options) const {
  return {.op = op,
          .topology = topology,
          .tensors = std::move(tensors),
          .packing = packing(options),
          .choices = choices(),
          .between_processes = between_processes(options)};
}

void CrossDeviceOps::check_devices(const PerReplica& /*value*/) const {}
void CrossDeviceOps::tell_refused(const InvalidArgument& /*error*/) const {}

Result CrossDeviceOps::deliver(Value value, const Destinations& destinations) const {
  const std::vector<Device>& devices = destinations.devices();
  if (devices.size() > 1 || mirrors_one_device()) return Mirrored(value, devices);
  if (device_of(value) == devices.front()) return value;
  return on_device(value, devices.front());
}

Result CrossDeviceOps::reduce(ReduceOp op, const PerReplica& value,
                              const Destinations& destinations,
                              const CommunicationOptions& options) const {
  const Item item{&value, &destinations};
  return std::move(reduce_items(op, {&item, 1}, options).front());
}

std::vector<Result> CrossDeviceOps::batch_reduce(ReduceOp op, std::span<const ReducePair> pairs,
                                                 const CommunicationOptions& options) const {
  std::vector<Item> items;
  items.reserve(pairs.size());
  for (const ReducePair& pair : pairs) items.push_back({&pair.value, &pair.destinations});
  return reduce_items(op, items, options);
}

Value CrossDeviceOps::reduce_sparse(ReduceOp op, const PerReplica& value,
                                    const CommunicationOptions& /*options*/) const {
  const std::vector<std::optional<Value>> terms(value.values().begin(), value.values().end());
  return *add_n(terms, {.mean = op == ReduceOp::kMean});
}

/// By the caller's function.
Value CrossDeviceOps::accumulate(ReduceOp op, const PerReplica& value) const {
  std::vector<Tensor> terms;
  for (std::size_t i = 0; i < value.values().size(); ++i) terms.push_back(dense(value, i));
  const Tensor sum = (*accumulation_fn())(terms);
  return op == ReduceOp::kMean ? divided(sum, terms.size()) : sum;
}

std::vector<Tensor> CrossDeviceOps::reduce_dense(ReduceOp op,
                                                 std::span<const PerReplica* const> values,
                                                 const CommunicationOptions& options) const {
  std::shared_ptr<PlanCache::Entry> entry = plans_->find(op, packing(options), values);
  if (!entry) {
    const std::vector<Device> devices = values.front()->devices();
    Placement placement = place(devices);
    entry = plans_->add(std::make_shared<PlanCache::Entry>(
        make_request(op, placement.topology, infos_of({}, values), options), devices,
        std::move(placement.input_of_rank)));
  }
  std::vector<const Tensor*> inputs;
  inputs.reserve(entry->input_of_rank.size() * values.size());
  for (const std::size_t input : entry->input_of_rank)
    for (const PerReplica* value : values) inputs.push_back(&dense(*value, input));
  std::vector<Buffer> buffers;
  std::vector<TensorView> outputs;
  buffers.reserve(values.size());
  outputs.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const DType dtype = entry->plan.result_dtype(i);
    const Shape& shape = inputs[i]->shape();
    buffers.push_back(
        Context::process().buffers().allocate(shape.element_count() * size_of(dtype)));
    outputs.push_back({buffers.back().bytes(), dtype, shape});
  }
  {
    const std::lock_guard lock(entry->in_use);
    entry->plan.run(inputs, outputs, timeout_of(options));
  }
  std::vector<Tensor> sums;
  sums.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    sums.emplace_back(std::move(buffers[i]), outputs[i].dtype, std::move(outputs[i].shape));
  return sums;
}

std::vector<Result> CrossDeviceOps::reduce_items(ReduceOp op, std::span<const Item> items,
                                                 const CommunicationOptions& options) const {
  begin_call();
  try {
    check(op);
    check(options);
    for (const Item& item : items) {
      check_value(op, *item.value);
      check_devices(*item.value);
    }
  } catch (const InvalidArgument& error) {
    tell_refused(error);
    throw;
  }

  const bool has_fn =
      accumulation_fn() != nullptr && (op == ReduceOp::kSum || op == ReduceOp::kMean);
  std::vector<std::optional<Value>> sums(items.size());
  std::vector<Together> groups;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const PerReplica& value = *items[i].value;
    if (!is_dense(value)) {
      if (accumulation_fn() != nullptr)
        std::call_once(told_of_sparse_, [] {
          Context::process().warn(
              "accumulation_fn is not called for sparse values: their slices are joined");
        });
      sums[i] = reduce_sparse(op, value, options);
      continue;
    }
    if (has_fn) {
      sums[i] = accumulate(op, value);
      continue;
    }
    const auto found = std::ranges::find_if(groups, [&](const Together& group) {
      return on_same_devices(*group.values.front(), value);
    });
    Together& group = found == groups.end() ? groups.emplace_back() : *found;
    group.positions.push_back(i);
    group.values.push_back(&value);
  }
  for (const Together& group : groups) {
    std::vector<Tensor> reduced = reduce_dense(op, group.values, options);
    for (std::size_t i = 0; i < reduced.size(); ++i)
      sums[group.positions[i]] = std::move(reduced[i]);
  }

  std::vector<Result> results;
  results.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    results.push_back(deliver(std::move(*sums[i]), *items[i].destinations));
  return results;
}

Result CrossDeviceOps::broadcast(const Value& value, const Destinations& destinations) const {
  const Term term{&value, 0};
  check_terms({&term, 1});
  return deliver(value, destinations);
}

ReductionPlan CrossDeviceOps::plan(ReduceOp op, std::span<const Device> devices,
                                   std::vector<TensorInfo> tensors,
                                   const CommunicationOptions& options) const {
  check(options);
  require(!devices.empty(), ErrorKind::kEmpty, "a reduction needs at least one device");
  ReductionPlan plan =
      plan_reduction(make_request(op, place(devices).topology, std::move(tensors), options));
  for (const std::vector<std::string>& some :
       {notes(options), notes_on(options), notes_on(devices)})
    plan.notes.insert(plan.notes.end(), some.begin(), some.end());
  return plan;
}

ReductionPlan CrossDeviceOps::plan(ReduceOp op, std::span<const ReducePair> pairs,
                                   const CommunicationOptions& options) const {
  check(op);
  Together group;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PerReplica& value = pairs[i].value;
    check_value(op, value);
    if (!is_dense(value)) {
      others.push_back(fmt::format("value {} is sparse: its slices are joined, not packed", i));
      continue;
    }
    require(group.values.empty() || on_same_devices(*group.values.front(), value),
            ErrorKind::kBadOption, "value {} lives on other devices than value {}; plan them apart",
            i, group.values.empty() ? i : group.positions.front());
    group.positions.push_back(i);
    group.values.push_back(&value);
  }
  require(!group.values.empty(), ErrorKind::kEmpty, "there is no dense value to plan for");
  ReductionPlan result =
      plan(op, group.values.front()->devices(), infos_of(group.positions, group.values), options);
  result.notes.insert(result.notes.end(), others.begin(), others.end());
  return result;
}

}  // namespace fanin
