#pragma once

#include <span>
#include <vector>

#include "fanin/device.h"
#include "fanin/indexed_slices.h"

namespace fanin {

/// Where a value lives: its device is that of its elements.
const Device& device_of(const Value& value);

/// The same value, said to live on another device, without a copy.
Value on_device(const Value& value, const Device& device);

/// One value for each replica, in the order of the replicas; each lives on its replica's device.
class PerReplica {
 public:
  /// None, which can be made but not reduced.
  PerReplica() = default;

  PerReplica(std::vector<Value> values) : values_(std::move(values)) {}

  /// values[i] on devices[i]. Throws InvalidArgument (kBadOption) unless there are as many of both.
  PerReplica(std::span<const Device> devices, std::span<const Tensor> values);

  const std::vector<Value>& values() const { return values_; }
  std::vector<Device> devices() const;

 private:
  std::vector<Value> values_;
};

/// One value on several devices. Where these share memory, so do the components, which nobody may
/// change.
class Mirrored {
 public:
  /// Throws InvalidArgument (kEmpty) if there are no devices.
  Mirrored(const Value& value, std::span<const Device> devices);

  const std::vector<Value>& values() const { return values_; }
  std::vector<Device> devices() const;

  /// The component on a device. Throws InvalidArgument (kBadDevice) and lists the devices if there
  /// is none.
  const Value& on(const Device& device) const;

 private:
  std::vector<Value> values_;
};

}  // namespace fanin
