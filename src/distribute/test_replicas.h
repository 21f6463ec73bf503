#pragma once

#include <vector>

#include "fanin/cross_device_ops.h"

namespace fanin {

/// GPUs 0, 1, .. of the one worker.
inline std::vector<Device> gpus(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.push_back({.type = "GPU", .index = i});
  return devices;
}

/// Replica r has r + 1, r + 2, ..: sums are whole numbers in any order.
inline Tensor counted(int replica, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(replica + 1) + static_cast<float>(i % 1000);
  return Tensor::of<float>(std::span<const float>(numbers), {static_cast<std::int64_t>(count)});
}

inline PerReplica counted_on(const std::vector<Device>& devices, std::size_t count) {
  std::vector<Tensor> values;
  for (std::size_t r = 0; r < devices.size(); ++r)
    values.push_back(counted(static_cast<int>(r), count));
  return {devices, values};
}

inline std::vector<float> counted_sum(int replica_count, std::size_t count) {
  std::vector<float> sum(count);
  for (int replica = 0; replica < replica_count; ++replica) {
    const std::vector<float> term = counted(replica, count).to_vector<float>();
    for (std::size_t i = 0; i < count; ++i) sum[i] += term[i];
  }
  return sum;
}

inline std::vector<float> floats_on(const Result& result, const Device& device) {
  return std::get<Tensor>(value_on(result, device)).to_vector<float>();
}

}  // namespace fanin
