#include "fanin/distributed_values.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/require.h"

namespace fanin {
namespace {

std::vector<Device> devices_of(const std::vector<Value>& values) {
  std::vector<Device> devices;
  devices.reserve(values.size());
  for (const Value& value : values) devices.push_back(device_of(value));
  return devices;
}

}  // namespace

const Device& device_of(const Value& value) {
  if (const auto* dense = std::get_if<Tensor>(&value)) return dense->device();
  return std::get<IndexedSlices>(value).values.device();
}

Value on_device(const Value& value, const Device& device) {
  if (const auto* dense = std::get_if<Tensor>(&value)) return dense->on(device);
  const auto& sparse = std::get<IndexedSlices>(value);
  return IndexedSlices{sparse.values.on(device), sparse.indices.on(device), sparse.dense_shape};
}

PerReplica::PerReplica(std::span<const Device> devices, std::span<const Tensor> values) {
  require(devices.size() == values.size(), ErrorKind::kBadOption,
          "{} values were given for {} devices; give one for each", values.size(), devices.size());
  for (std::size_t i = 0; i < values.size(); ++i) values_.emplace_back(values[i].on(devices[i]));
}

std::vector<Device> PerReplica::devices() const { return devices_of(values_); }

Mirrored::Mirrored(const Value& value, std::span<const Device> devices) {
  require(!devices.empty(), ErrorKind::kEmpty, "a mirrored value needs at least one device");
  values_.reserve(devices.size());
  for (const Device& device : devices) values_.push_back(on_device(value, device));
}

std::vector<Device> Mirrored::devices() const { return devices_of(values_); }

const Value& Mirrored::on(const Device& device) const {
  const auto found = std::ranges::find(values_, device, device_of);
  if (found != values_.end()) return *found;
  std::vector<std::string> names;
  for (const Value& value : values_) names.push_back(to_string(device_of(value)));
  throw InvalidArgument(ErrorKind::kBadDevice,
                        fmt::format("there is no component on {}; there are some on {}",
                                    to_string(device), fmt::join(names, ", ")));
}

}  // namespace fanin
