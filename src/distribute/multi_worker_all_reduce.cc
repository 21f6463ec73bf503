#include "fanin/multi_worker_all_reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/require.h"
#include "distribute/across_workers.h"

namespace fanin {
namespace {

/// The devices of all workers, worker after worker.
std::vector<Device> find_world(std::span<const std::string> worker_devices, int gpu_count) {
  require(!worker_devices.empty(), ErrorKind::kEmpty,
          "worker_devices is empty; name at least one worker, such as /job:worker/task:0");
  require(gpu_count >= 0, ErrorKind::kBadOption, "num_gpus_per_worker is {}; use 0 or more",
          gpu_count);
  std::vector<Device> world;
  for (const std::string& text : worker_devices) {
    Device device = parse_device(text);
    device.type = gpu_count > 0 ? "GPU" : "CPU";
    for (device.index = 0; device.index < std::max(gpu_count, 1); ++device.index)
      world.push_back(device);
  }
  return world;
}

bool is_automatic(const Packing& packing) {
  return packing.bytes_per_pack == 0 && packing.num_packs == 0 &&
         packing.agg_small_grads_max_bytes == 0;
}

}  // namespace

MultiWorkerAllReduce::MultiWorkerAllReduce(std::span<const std::string> worker_devices,
                                           int num_gpus_per_worker,
                                           const MultiWorkerAllReduceOptions& options)
    : topology_{.worker_count = static_cast<int>(worker_devices.size()),
                .devices_per_worker = std::max(num_gpus_per_worker, 1)},
      world_(find_world(worker_devices, num_gpus_per_worker)),
      spec_(options.all_reduce_spec),
      packing_{.num_packs = options.num_packs,
               .agg_small_grads_max_bytes = options.agg_small_grads_max_bytes,
               .agg_small_grads_max_group = options.agg_small_grads_max_group} {
  check(packing_);
}

MultiWorkerAllReduce::MultiWorkerAllReduce(Group& group,
                                           std::span<const std::string> worker_devices,
                                           int num_gpus_per_worker,
                                           const MultiWorkerAllReduceOptions& options)
    : MultiWorkerAllReduce(worker_devices, num_gpus_per_worker, options) {
  require(group.size() == topology_.worker_count, ErrorKind::kBadOption,
          "{} workers are named, but the group has {} ranks; there is one for each worker",
          topology_.worker_count, group.size());
  group_ = &group;
  automatic_.emplace(group);
}

std::span<const Device> MultiWorkerAllReduce::own_devices() const {
  const auto count = static_cast<std::size_t>(topology_.devices_per_worker);
  return std::span(world_).subspan(static_cast<std::size_t>(group_->rank()) * count, count);
}

AllReduceOptions MultiWorkerAllReduce::how_to_travel(std::size_t pack_bytes,
                                                     const CommunicationOptions& options) const {
  AllReduceOptions result;
  result.algorithm =
      algorithm_between_workers(spec_.elements()[spec_.select(pack_bytes)].algorithm);
  if (options.timeout_seconds)
    result.timeout = std::chrono::duration<double>(*options.timeout_seconds);
  result.epoch = epoch_;
  return result;
}

std::vector<std::string> MultiWorkerAllReduce::notes(const CommunicationOptions& options) const {
  if (group_ == nullptr) return {};
  std::vector<std::string> notes = {
      fmt::format("one process a worker: this is worker {} of {}; replicas of one worker are "
                  "summed in one pass, and shards have nothing to do between processes",
                  group_->rank(), group_->size()),
      describe_travel(*group_)};
  if (is_automatic(packing(options))) notes.emplace_back(kPacksAreAutomatic);
  return notes;
}

void MultiWorkerAllReduce::begin_call() const {
  if (group_ != nullptr) epoch_ = group_->epoch();
}

void MultiWorkerAllReduce::check_devices(const PerReplica& value) const {
  if (group_ != nullptr) check_worker_devices(value, own_devices());
}

void MultiWorkerAllReduce::tell_refused(const InvalidArgument& error) const {
  if (group_ != nullptr) group_->refuse(error.what());
}

std::vector<Tensor> MultiWorkerAllReduce::reduce_dense(ReduceOp op,
                                                       std::span<const PerReplica* const> values,
                                                       const CommunicationOptions& options) const {
  if (group_ == nullptr) return CrossDeviceOps::reduce_dense(op, values, options);
  Packing packs = packing(options);
  if (is_automatic(packs)) {
    const std::size_t bytes = byte_count(values);
    packs.bytes_per_pack = automatic_->choose(bytes, how_to_travel(bytes, options)).bytes_per_pack;
  }
  return reduce_across(*group_, op, values, packs,
                       [&](std::size_t bytes) { return how_to_travel(bytes, options); });
}

Value MultiWorkerAllReduce::reduce_sparse(ReduceOp op, const PerReplica& value,
                                          const CommunicationOptions& options) const {
  if (group_ == nullptr) return CrossDeviceOps::reduce_sparse(op, value, options);
  return reduce_sparse_across(*group_, op, value,
                              [&](std::size_t bytes) { return how_to_travel(bytes, options); });
}

CrossDeviceOps::Placement MultiWorkerAllReduce::place(std::span<const Device> devices) const {
  if (group_ != nullptr && same_devices(devices, own_devices())) return {topology_, {}};
  if (devices.size() != world_.size() || !same_devices(devices, world_))
    return CrossDeviceOps::place(devices);
  Placement placement{topology_, {}};
  for (const Device& device : world_)
    placement.input_of_rank.push_back(
        static_cast<std::size_t>(std::ranges::find(devices, device) - devices.begin()));
  return placement;
}

Packing MultiWorkerAllReduce::packing(const CommunicationOptions& options) const {
  Packing packing = packing_;
  packing.bytes_per_pack = options.bytes_per_pack;  // wins if it is set
  return packing;
}

std::vector<AllReduceSpec::Element> MultiWorkerAllReduce::choices() const {
  return spec_.elements();
}

}  // namespace fanin
