#pragma once

#include <fmt/format.h>

#include <utility>

#include "fanin/error.h"

namespace fanin {

/// Throws InvalidArgument with a formatted message unless `condition` holds.
template <typename... Args>
void require(bool condition, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (condition) [[likely]]
    return;
  throw InvalidArgument(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fanin
