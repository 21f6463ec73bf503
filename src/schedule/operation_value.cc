#include "schedule/operation_value.h"

#include <numeric>

namespace fanin {

std::optional<ValueId> value_of(const Operation& operation, std::span<const ValueId> sources,
                                Values& values) {
  if (sources.empty()) return std::nullopt;
  if (operation.group_sizes.empty()) return values.fold(sources);
  const auto& sizes = operation.group_sizes;
  if (std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) != sources.size())
    return std::nullopt;
  std::vector<ValueId> groups;
  for (const std::size_t size : sizes) {
    if (size == 0) return std::nullopt;
    groups.push_back(values.fold(sources.first(size)));
    sources = sources.subspan(size);
  }
  return values.fold(groups);
}

}  // namespace fanin
