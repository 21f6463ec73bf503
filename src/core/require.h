#pragma once

#include <fmt/format.h>

#include <utility>

#include "fanin/error.h"

namespace fanin {

/// Throws InvalidArgument with a formatted message.
template <typename... Args>
[[noreturn, gnu::noinline, gnu::cold]] void throw_invalid(ErrorKind kind,
                                                          fmt::format_string<Args...> format,
                                                          Args&&... args) {
  throw InvalidArgument(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// The same unless `condition` holds. Arguments are evaluated in any case: where calls of less than
/// a microsecond pass by, ask first.
template <typename... Args>
void require(bool condition, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    throw_invalid(kind, format, std::forward<Args>(args)...);
}

}  // namespace fanin
