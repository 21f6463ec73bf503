#include "fanin/reduction_to_one_device.h"

#include <fmt/format.h>

#include <utility>

namespace fanin {

ReductionToOneDevice::ReductionToOneDevice(std::optional<std::string> reduce_to_device,
                                           AccumulationFn accumulation_fn)
    : accumulation_fn_(std::move(accumulation_fn)) {
  if (reduce_to_device) reduce_to_device_ = parse_device(*reduce_to_device);
}

Packing ReductionToOneDevice::packing(const CommunicationOptions& /*options*/) const { return {}; }

std::vector<AllReduceSpec::Element> ReductionToOneDevice::choices() const {
  return {{.algorithm = "one_device"}};
}

std::vector<std::string> ReductionToOneDevice::notes(const CommunicationOptions& options) const {
  std::vector<std::string> notes = {reduce_to_device_
                                        ? fmt::format("sums on {}", to_string(*reduce_to_device_))
                                        : std::string("sums on the first destination")};
  if (options.bytes_per_pack > 0)
    notes.push_back(fmt::format("bytes_per_pack {} is not used: each tensor is reduced alone",
                                options.bytes_per_pack));
  if (accumulation_fn_)
    notes.emplace_back(
        "accumulation_fn sums dense values, for SUM and MEAN; it is not called for sparse ones");
  return notes;
}

const CrossDeviceOps::AccumulationFn* ReductionToOneDevice::accumulation_fn() const {
  return accumulation_fn_ ? &accumulation_fn_ : nullptr;
}

}  // namespace fanin
