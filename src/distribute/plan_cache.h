#pragma once

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "fanin/cross_device_ops.h"

namespace fanin {

/// Plans of the last calls, for the next ones like them. What makes two calls alike is compared
/// where it is, without lists of its own: a small reduction takes no longer than that.
class CrossDeviceOps::PlanCache {
 public:
  struct Entry {
    Entry(ReductionRequest request, std::vector<Device> where, std::vector<std::size_t> inputs)
        : devices(std::move(where)),
          input_of_rank(std::move(inputs)),
          plan(plan_reduction(std::move(request))) {}

    const std::vector<Device> devices;
    const std::vector<std::size_t> input_of_rank;
    std::mutex in_use;  // one run at a time
    Plan plan;
  };

  /// The plan for dense values that live on the same devices, if there is one.
  std::shared_ptr<Entry> find(ReduceOp op, const Packing& packing,
                              std::span<const PerReplica* const> values) {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (!is_for(**entry, op, packing, values)) continue;
      entries_.splice(entries_.begin(), entries_, entry);  // the last used is the first
      return entries_.front();
    }
    return nullptr;
  }

  /// Keeps it, and forgets the one that was not used for longest.
  std::shared_ptr<Entry> add(std::shared_ptr<Entry> entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_front(std::move(entry));
    if (entries_.size() > kMost) entries_.pop_back();
    return entries_.front();
  }

 private:
  static bool is_for(const Entry& entry, ReduceOp op, const Packing& packing,
                     std::span<const PerReplica* const> values) {
    const ReductionRequest& request = entry.plan.explain().request;
    const auto is_like = [](const PerReplica* value, const TensorInfo& info) {
      const auto& first = std::get<Tensor>(value->values().front());
      return first.dtype() == info.dtype && first.shape() == info.shape;
    };
    return request.op == op && request.packing == packing &&
           std::ranges::equal(values, request.tensors, is_like) &&
           std::ranges::equal(values.front()->values(), entry.devices, {}, device_of);
  }

  static constexpr std::size_t kMost = 64;
  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;
};

}  // namespace fanin
