#include "fanin/cross_device_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include "aggregation/term_check.h"
#include "core/require.h"
#include "distribute/plan_cache.h"
#include "fanin/add_n.h"
#include "kernels/fold.h"

namespace fanin {
namespace {

bool is_dense(const PerReplica& value) {
  return std::ranges::all_of(
      value.values(), [](const Value& each) { return std::holds_alternative<Tensor>(each); });
}

const Tensor& dense(const PerReplica& value, std::size_t replica) {
  return std::get<Tensor>(value.values()[replica]);
}

/// Throws unless the replicas' values fit together, and the op is for them.
void check_value(ReduceOp op, const PerReplica& value) {
  require(!value.values().empty(), ErrorKind::kEmpty,
          "a value without components cannot be reduced; give one for each replica");
  std::vector<Term> terms;
  for (std::size_t i = 0; i < value.values().size(); ++i) terms.push_back({&value.values()[i], i});
  check_terms(terms);
  require(is_dense(value) || op == ReduceOp::kSum || op == ReduceOp::kMean, ErrorKind::kBadReduceOp,
          "{} of sparse values is not defined; use SUM or MEAN", name(op));
}

/// Divides by a number of terms, as MEAN does.
Tensor divided(const Tensor& sum, std::size_t term_count) {
  const Arithmetic arithmetic = make_arithmetic(ReduceOp::kMean, sum.dtype(), Accumulation::kWide,
                                                static_cast<std::int64_t>(term_count));
  Buffer buffer = Context::process().buffers().allocate(sum.element_count() *
                                                        arithmetic.size_of(Cell::kResult));
  const Operand source{sum.bytes().data(), Cell::kInput};
  std::byte* const target = buffer.bytes().data();
  fold(arithmetic,
       {.sources = {&source, 1}, .targets = {&target, 1}, .count = sum.element_count()});
  return {std::move(buffer), arithmetic.result, sum.shape(), sum.device()};
}

std::vector<TensorInfo> infos_of(std::span<const ReducePair> pairs,
                                 std::span<const std::size_t> members) {
  std::vector<TensorInfo> infos;
  for (const std::size_t member : members) {
    const Tensor& first = dense(pairs[member].value, 0);
    infos.push_back({fmt::format("value {}", member), first.dtype(), first.shape()});
  }
  return infos;
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

ReductionRequest CrossDeviceOps::make_request(ReduceOp op, const Topology& topology,
                                              std::vector<TensorInfo> tensors,
                                              const CommunicationOptions& options) const {
  return {.op = op,
          .topology = topology,
          .tensors = std::move(tensors),
          .packing = packing(options),
          .choices = choices()};
}

Result CrossDeviceOps::deliver(const Value& value, const Destinations& destinations) const {
  const std::vector<Device>& devices = destinations.devices();
  if (devices.size() == 1 && !mirrors_one_device()) return on_device(value, devices.front());
  return Mirrored(value, devices);
}

Result CrossDeviceOps::reduce(ReduceOp op, const PerReplica& value,
                              const Destinations& destinations,
                              const CommunicationOptions& options) const {
  const ReducePair pair{value, destinations};
  return std::move(batch_reduce(op, {&pair, 1}, options).front());
}

/// A value that does not go by a plan: sparse, or summed by the caller's function.
Value CrossDeviceOps::reduce_one(ReduceOp op, const PerReplica& value) const {
  const SumOptions options{.mean = op == ReduceOp::kMean};
  if (!is_dense(value)) {
    if (accumulation_fn() != nullptr)
      std::call_once(told_of_sparse_, [] {
        Context::process().warn(
            "accumulation_fn is not called for sparse values: their slices are joined");
      });
    const std::vector<std::optional<Value>> terms(value.values().begin(), value.values().end());
    return *add_n(terms, options);
  }
  std::vector<Tensor> terms;
  for (std::size_t i = 0; i < value.values().size(); ++i) terms.push_back(dense(value, i));
  const Tensor sum = (*accumulation_fn())(terms);
  return op == ReduceOp::kMean ? divided(sum, terms.size()) : sum;
}

void CrossDeviceOps::run_dense(ReduceOp op, std::span<const ReducePair> pairs,
                               std::span<const std::size_t> members,
                               const CommunicationOptions& options,
                               std::vector<std::optional<Value>>& sums) const {
  const std::vector<Device> devices = pairs[members.front()].value.devices();
  const Placement placement = place(devices);
  const auto entry =
      plans_->find_or_make(make_request(op, placement.topology, infos_of(pairs, members), options));
  std::vector<Tensor> inputs;
  for (const std::size_t input : placement.input_of_rank)
    for (const std::size_t member : members) inputs.push_back(dense(pairs[member].value, input));
  std::vector<Buffer> buffers;
  std::vector<TensorView> outputs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const DType dtype = entry->plan.result_dtype(i);
    const Shape& shape = inputs[i].shape();
    buffers.push_back(
        Context::process().buffers().allocate(shape.element_count() * size_of(dtype)));
    outputs.push_back({buffers.back().bytes(), dtype, shape});
  }
  {
    const std::lock_guard lock(entry->in_use);
    entry->plan.run(inputs, outputs, timeout_of(options));
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    sums[members[i]] = Tensor(std::move(buffers[i]), outputs[i].dtype, std::move(outputs[i].shape));
}

std::vector<Result> CrossDeviceOps::batch_reduce(ReduceOp op, std::span<const ReducePair> pairs,
                                                 const CommunicationOptions& options) const {
  check(op);
  check(options);
  for (const ReducePair& pair : pairs) check_value(op, pair.value);

  const bool has_fn =
      accumulation_fn() != nullptr && (op == ReduceOp::kSum || op == ReduceOp::kMean);
  std::vector<std::optional<Value>> sums(pairs.size());
  std::map<std::vector<Device>, std::vector<std::size_t>> by_devices;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (is_dense(pairs[i].value) && !has_fn)
      by_devices[pairs[i].value.devices()].push_back(i);
    else
      sums[i] = reduce_one(op, pairs[i].value);
  }
  for (const auto& [devices, members] : by_devices) run_dense(op, pairs, members, options, sums);

  std::vector<Result> results;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    results.push_back(deliver(*sums[i], pairs[i].destinations));
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
  std::vector<std::size_t> members;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    check_value(op, pairs[i].value);
    if (is_dense(pairs[i].value))
      members.push_back(i);
    else
      others.push_back(fmt::format("value {} is sparse: its slices are joined, not packed", i));
  }
  require(!members.empty(), ErrorKind::kEmpty, "there is no dense value to plan for");
  const std::vector<Device> devices = pairs[members.front()].value.devices();
  for (const std::size_t member : members)
    require(pairs[member].value.devices() == devices, ErrorKind::kBadOption,
            "value {} lives on other devices than value {}; plan them apart", member,
            members.front());
  ReductionPlan result = plan(op, devices, infos_of(pairs, members), options);
  result.notes.insert(result.notes.end(), others.begin(), others.end());
  return result;
}

}  // namespace fanin
