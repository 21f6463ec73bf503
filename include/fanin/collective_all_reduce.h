#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fanin/automatic_packing.h"
#include "fanin/cross_device_ops.h"
#include "fanin/group.h"

namespace fanin {

/// Reduces across the workers of a group, each of which is a process (or a thread) with one or more
/// replicas of its own: every worker gives the components of its devices and gets the reduction of
/// those of all workers. All workers make the same calls in the same order. Values travel in packs:
/// of options.bytes_per_pack bytes, or as choose_packing() finds best for this group, which the
/// first reduction measures. Sums are in the order of the group's algorithm: "ring" for RING,
/// otherwise "direct" among workers of one host and "auto" among several hosts; with several
/// devices a worker sums its own first.
///
/// Errors are those of CrossDeviceOps and of Group; what the workers ask for is compared.
class CollectiveAllReduce : public CrossDeviceOps {
 public:
  /// `devices` are this worker's. `options` are merged with those of each call. The group must
  /// outlive the object, and nobody else may call it meanwhile. Throws InvalidArgument: kEmpty for
  /// no devices, kBadOption for bad options, and for a `group_size`, if it is given, that is not
  /// the number of the replicas of all workers.
  CollectiveAllReduce(Group& group, std::vector<Device> devices,
                      const CommunicationOptions& options = {},
                      std::optional<int> group_size = std::nullopt);

 protected:
  Packing packing(const CommunicationOptions& options) const override;
  std::vector<AllReduceSpec::Element> choices() const override;
  std::string between_processes(const CommunicationOptions& options) const override;
  std::vector<std::string> notes(const CommunicationOptions& options) const override;
  void begin_call() const override;
  void check_devices(const PerReplica& value) const override;
  void tell_refused(const InvalidArgument& error) const override;
  std::vector<Tensor> reduce_dense(ReduceOp op, std::span<const PerReplica* const> values,
                                   const CommunicationOptions& options) const override;
  Value reduce_sparse(ReduceOp op, const PerReplica& value,
                      const CommunicationOptions& options) const override;

 private:
  AllReduceOptions call_options(const CommunicationOptions& options) const;

  Group& group_;
  std::vector<Device> devices_;
  CommunicationOptions options_;
  bool has_several_hosts_;
  mutable PackingOfGroup automatic_;
  mutable std::uint64_t epoch_ = 0;  // of the call that is under way
};

}  // namespace fanin
