#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fanin/all_reduce_spec.h"
#include "fanin/cross_device_ops.h"

namespace fanin {

struct MultiWorkerAllReduceOptions {
  AllReduceSpec all_reduce_spec = AllReduceSpec::Element{"pscpu/pscpu", 2, -1};
  int num_packs = 0;
  std::int64_t agg_small_grads_max_bytes = 0;
  int agg_small_grads_max_group = 10;
};

/// All-reduces among the devices of several workers, by a spec.
class MultiWorkerAllReduce : public CrossDeviceOps {
 public:
  /// The world is `num_gpus_per_worker` GPUs of each worker, worker after worker, or their CPUs if
  /// there are none. Throws InvalidArgument: kEmpty without workers, kBadDevice, kBadOption.
  MultiWorkerAllReduce(std::span<const std::string> worker_devices, int num_gpus_per_worker,
                       const MultiWorkerAllReduceOptions& options = {});

 protected:
  Placement place(std::span<const Device> devices) const override;
  Packing packing(const CommunicationOptions& options) const override;
  std::vector<AllReduceSpec::Element> choices() const override;
  bool mirrors_one_device() const override { return true; }

 private:
  Topology topology_;
  std::vector<Device> world_;
  AllReduceSpec spec_;
  Packing packing_;
};

}  // namespace fanin
