#include "schedule/operation_value.h"

#include <array>
#include <numeric>

#include "core/add_n_order.h"

namespace fanin {
namespace {

std::optional<ValueId> value_of_postfix(std::span<const std::uint8_t> joins,
                                        std::span<const ValueId> sources, Values& values) {
  std::vector<ValueId> stack;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    stack.push_back(sources[i]);
    if (joins[i] >= stack.size()) return std::nullopt;
    for (int join = 0; join < joins[i]; ++join) {
      const ValueId last = stack.back();
      stack.pop_back();
      stack.back() = values.fold(std::array{stack.back(), last});
    }
  }
  return stack.size() == 1 ? std::optional(stack.front()) : std::nullopt;
}

}  // namespace

std::optional<ValueId> value_of(const Operation& operation, std::span<const ValueId> sources,
                                Values& values) {
  if (sources.empty()) return std::nullopt;
  if (!operation.joins.empty()) {
    if (operation.joins.size() != sources.size() || !operation.group_sizes.empty())
      return std::nullopt;
    return value_of_postfix(operation.joins, sources, values);
  }
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

std::vector<std::uint8_t> add_n_group_sizes(std::size_t source_count) {
  std::vector<std::uint8_t> sizes;
  assign_add_n_groups(source_count, sizes);
  return sizes;
}

}  // namespace fanin
