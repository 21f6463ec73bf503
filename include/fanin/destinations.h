#pragma once

#include <string_view>
#include <vector>

#include "fanin/distributed_values.h"
#include "fanin/variable.h"

namespace fanin {

/// Where a result shall be: the devices of a distributed value, of a variable (which is not
/// changed), of a tensor, or one that is named. Each device once, in order of appearance.
class Destinations {
 public:
  /// Throw InvalidArgument (kBadDestination) if there is no device.
  Destinations(const PerReplica& value);
  Destinations(const Mirrored& value);
  Destinations(const Variable& variable);
  Destinations(const Tensor& tensor);
  Destinations(const Device& device);
  /// Throws InvalidArgument: kBadDestination if it is empty, kBadDevice if it is no device.
  Destinations(std::string_view device);
  Destinations(const char* device) : Destinations(std::string_view(device)) {}

  const std::vector<Device>& devices() const { return devices_; }

 private:
  explicit Destinations(const std::vector<Device>& devices);

  std::vector<Device> devices_;
};

}  // namespace fanin
