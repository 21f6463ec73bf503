#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fanin/all_reduce_spec.h"
#include "fanin/automatic_packing.h"
#include "fanin/cross_device_ops.h"
#include "fanin/group.h"

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

  /// One process (or thread) for each worker: this one is the worker of the group's rank, gives the
  /// components of its own devices, and gets the reductions over those of all. What a spec says of
  /// the devices of one worker has nothing to choose there: they share memory, and are summed in
  /// one pass. Values travel in packs: as the options say, or, if they say nothing, as
  /// choose_packing() finds best for this group, which the first reduction measures. The group must
  /// outlive the object, and nobody else may call it meanwhile. Throws also kBadOption if there are
  /// not as many workers as ranks.
  MultiWorkerAllReduce(Group& group, std::span<const std::string> worker_devices,
                       int num_gpus_per_worker, const MultiWorkerAllReduceOptions& options = {});

 protected:
  Placement place(std::span<const Device> devices) const override;
  Packing packing(const CommunicationOptions& options) const override;
  std::vector<AllReduceSpec::Element> choices() const override;
  std::vector<std::string> notes(const CommunicationOptions& options) const override;
  void begin_call() const override;
  void check_devices(const PerReplica& value) const override;
  void tell_refused(const InvalidArgument& error) const override;
  std::vector<Tensor> reduce_dense(ReduceOp op, std::span<const PerReplica* const> values,
                                   const CommunicationOptions& options) const override;
  Value reduce_sparse(ReduceOp op, const PerReplica& value,
                      const CommunicationOptions& options) const override;
  bool mirrors_one_device() const override { return true; }

 private:
  std::span<const Device> own_devices() const;
  AllReduceOptions how_to_travel(std::size_t pack_bytes, const CommunicationOptions& options) const;

  Group* group_ = nullptr;  // none: all workers are in this process
  Topology topology_;
  mutable std::optional<PackingOfGroup> automatic_;  // with a group
  mutable std::uint64_t epoch_ = 0;                  // of the call that is under way
  std::vector<Device> world_;
  AllReduceSpec spec_;
  Packing packing_;
};

}  // namespace fanin
