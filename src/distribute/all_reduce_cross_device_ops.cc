#include "fanin/all_reduce_cross_device_ops.h"

#include <utility>

#include "core/require.h"

namespace fanin {

AllReduceCrossDeviceOps::AllReduceCrossDeviceOps(std::string algorithm, int num_packs,
                                                 std::int64_t agg_small_grads_max_bytes,
                                                 int agg_small_grads_max_group)
    : algorithm_(std::move(algorithm)),
      packing_{.num_packs = num_packs,
               .agg_small_grads_max_bytes = agg_small_grads_max_bytes,
               .agg_small_grads_max_group = agg_small_grads_max_group} {
  require(algorithm_ == "nccl" || algorithm_ == "hierarchical_copy", ErrorKind::kBadOption,
          "there is no algorithm \"{}\" for an AllReduceCrossDeviceOps; use nccl or "
          "hierarchical_copy",
          algorithm_);
  check(packing_);
}

Packing AllReduceCrossDeviceOps::packing(const CommunicationOptions& options) const {
  Packing packing = packing_;
  packing.bytes_per_pack = options.bytes_per_pack;  // wins if it is set
  return packing;
}

std::vector<AllReduceSpec::Element> AllReduceCrossDeviceOps::choices() const {
  return {{.algorithm = algorithm_}};
}

}  // namespace fanin
