#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace fanin {

/// Sums what the ranks of one host have published, one piece of memory each, in the order of the
/// ranks, all as long as the sum. One run at a time; any thread may do it.
using HostSum = std::function<void(std::span<const std::byte* const> terms, std::byte* sum)>;

}  // namespace fanin
