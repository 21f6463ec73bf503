#include "fanin/destinations.h"

#include <algorithm>

#include "core/require.h"

namespace fanin {

Destinations::Destinations(const std::vector<Device>& devices) {
  require(!devices.empty(), ErrorKind::kBadDestination,
          "the destination has no components, so it says no device");
  for (const Device& device : devices)
    if (std::ranges::find(devices_, device) == devices_.end()) devices_.push_back(device);
}

Destinations::Destinations(const PerReplica& value) : Destinations(value.devices()) {}
Destinations::Destinations(const Mirrored& value) : Destinations(value.devices()) {}
Destinations::Destinations(const Variable& variable) : Destinations(variable.devices()) {}
Destinations::Destinations(const Tensor& tensor) : devices_{tensor.device()} {}
Destinations::Destinations(const Device& device) : devices_{device} {}

Destinations::Destinations(std::string_view device) {
  require(!device.empty(), ErrorKind::kBadDestination,
          "the destination is an empty string; name a device, such as /cpu:0");
  devices_ = {parse_device(device)};
}

}  // namespace fanin
