#pragma once

#include <optional>
#include <span>

#include "schedule/operation.h"
#include "schedule/values.h"

namespace fanin {

/// The value of an operation, given those of its sources in order: what the kernel will compute,
/// as an expression. Nothing if the groups or joins do not fit the sources.
std::optional<ValueId> value_of(const Operation& operation, std::span<const ValueId> sources,
                                Values& values);

/// The group sizes of a step: its sources in the ADD_N order. Empty if that is one left fold.
std::vector<std::uint8_t> add_n_group_sizes(std::size_t source_count);

}  // namespace fanin
