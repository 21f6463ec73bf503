#pragma once

#include <cstdint>

namespace fanin {

/// What a piece of memory holds on its way: what a rank gave, a sum that is not finished, or what
/// the caller gets.
enum class Cell : std::uint8_t { kInput, kPartial, kResult };

}  // namespace fanin
