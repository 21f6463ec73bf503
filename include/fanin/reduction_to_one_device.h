#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fanin/cross_device_ops.h"

namespace fanin {

/// Copies everything to one device, sums there and copies the sum to the destinations.
class ReductionToOneDevice : public CrossDeviceOps {
 public:
  /// Sums on `reduce_to_device`; without one on the first destination. Without `accumulation_fn` it
  /// sums in the ADD_N order over the replicas; with one it calls that with the terms in replica
  /// order, for SUM and for MEAN, which then divides. It is not called for sparse values.
  /// Throws InvalidArgument (kBadDevice) if `reduce_to_device` is not a device.
  explicit ReductionToOneDevice(std::optional<std::string> reduce_to_device = std::nullopt,
                                AccumulationFn accumulation_fn = nullptr);

 protected:
  Packing packing(const CommunicationOptions& options) const override;
  std::vector<AllReduceSpec::Element> choices() const override;
  std::vector<std::string> notes(const CommunicationOptions& options) const override;
  const AccumulationFn* accumulation_fn() const override;

 private:
  std::optional<Device> reduce_to_device_;
  AccumulationFn accumulation_fn_;
};

}  // namespace fanin
