#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fanin/cross_device_ops.h"

namespace fanin {

/// All-reduces by an algorithm, in packs.
class AllReduceCrossDeviceOps : public CrossDeviceOps {
 public:
  /// `algorithm` is "nccl" or "hierarchical_copy". Throws InvalidArgument (kBadOption) for another
  /// one, and for what is negative.
  explicit AllReduceCrossDeviceOps(std::string algorithm = "nccl", int num_packs = 1,
                                   std::int64_t agg_small_grads_max_bytes = 0,
                                   int agg_small_grads_max_group = 10);

 protected:
  Packing packing(const CommunicationOptions& options) const override;
  std::vector<AllReduceSpec::Element> choices() const override;

 private:
  std::string algorithm_;
  Packing packing_;
};

class HierarchicalCopyAllReduce : public AllReduceCrossDeviceOps {
 public:
  explicit HierarchicalCopyAllReduce(int num_packs = 1)
      : AllReduceCrossDeviceOps("hierarchical_copy", num_packs) {}
};

class NcclAllReduce : public AllReduceCrossDeviceOps {
 public:
  explicit NcclAllReduce(int num_packs = 1) : AllReduceCrossDeviceOps("nccl", num_packs) {}
};

}  // namespace fanin
