#include "fanin/multi_worker_all_reduce.h"

#include <algorithm>

#include "core/require.h"

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

CrossDeviceOps::Placement MultiWorkerAllReduce::place(std::span<const Device> devices) const {
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
