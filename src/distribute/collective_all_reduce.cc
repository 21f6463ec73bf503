#include "fanin/collective_all_reduce.h"

#include <fmt/format.h>

#include "core/require.h"
#include "distribute/across_workers.h"
#include "distribute/host_levels.h"

namespace fanin {

CollectiveAllReduce::CollectiveAllReduce(Group& group, std::vector<Device> devices,
                                         const CommunicationOptions& options,
                                         std::optional<int> group_size)
    : group_(group),
      devices_(std::move(devices)),
      options_(options),
      has_several_hosts_(host_count(group) > 1),
      automatic_(group) {
  check(options_);
  require(!devices_.empty(), ErrorKind::kEmpty,
          "a worker needs at least one device, such as /cpu:0");
  const int count = group.size() * static_cast<int>(devices_.size());
  require(group_size.value_or(count) == count, ErrorKind::kBadOption,
          "group_size is {}, but {} workers with {} devices each have {} replicas",
          group_size.value_or(count), group.size(), devices_.size(), count);
}

Packing CollectiveAllReduce::packing(const CommunicationOptions& options) const {
  return {.bytes_per_pack = merge(options_, options).bytes_per_pack};
}

std::vector<AllReduceSpec::Element> CollectiveAllReduce::choices() const {
  const bool is_ring = options_.implementation == Implementation::kRing;
  return {{.algorithm = is_ring ? "ring" : "direct"}};
}

std::vector<std::string> CollectiveAllReduce::notes(const CommunicationOptions& options) const {
  std::vector<std::string> notes = {
      fmt::format("{} workers with {} replicas each, by {}", group_.size(), devices_.size(),
                  between_processes(options)),
      describe_travel(group_)};
  if (packing(options).bytes_per_pack == 0) notes.emplace_back(kPacksAreAutomatic);
  return notes;
}

std::string CollectiveAllReduce::between_processes(const CommunicationOptions& options) const {
  if (merge(options_, options).implementation == Implementation::kRing) return "ring";
  return has_several_hosts_ ? std::string(kAutomatic) : "direct";
}

AllReduceOptions CollectiveAllReduce::call_options(const CommunicationOptions& options) const {
  const CommunicationOptions merged = merge(options_, options);
  AllReduceOptions result;
  result.algorithm = between_processes(options);
  result.epoch = epoch_;
  if (merged.timeout_seconds)
    result.timeout = std::chrono::duration<double>(*merged.timeout_seconds);
  return result;
}

void CollectiveAllReduce::begin_call() const { epoch_ = group_.epoch(); }

void CollectiveAllReduce::check_devices(const PerReplica& value) const {
  check_worker_devices(value, devices_);
}

void CollectiveAllReduce::tell_refused(const InvalidArgument& error) const {
  group_.refuse(error.what());
}

std::vector<Tensor> CollectiveAllReduce::reduce_dense(ReduceOp op,
                                                      std::span<const PerReplica* const> values,
                                                      const CommunicationOptions& options) const {
  Packing packs = packing(options);
  if (packs.bytes_per_pack == 0)
    packs.bytes_per_pack =
        automatic_.choose(byte_count(values), call_options(options)).bytes_per_pack;
  return reduce_across(group_, op, values, packs,
                       [&](std::size_t) { return call_options(options); });
}

Value CollectiveAllReduce::reduce_sparse(ReduceOp op, const PerReplica& value,
                                         const CommunicationOptions& options) const {
  return reduce_sparse_across(group_, op, value,
                              [&](std::size_t) { return call_options(options); });
}

}  // namespace fanin
