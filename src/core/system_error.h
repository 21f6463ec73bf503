#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "fanin/error.h"

namespace fanin {

/// What the system says about an error number.
inline std::string describe_errno(int error) { return std::generic_category().message(error); }

/// Throws Unavailable with what was tried (formatted) and the reason in errno.
template <typename... Args>
[[noreturn]] void throw_errno(fmt::format_string<Args...> format, Args&&... args) {
  const int error = errno;
  throw Unavailable(fmt::format("{}: {}", fmt::format(format, std::forward<Args>(args)...),
                                describe_errno(error)));
}

}  // namespace fanin
