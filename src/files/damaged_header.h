#pragma once

#include <fmt/format.h>

#include <utility>

#include "fanin/error.h"

namespace fanin {

/// Throws InvalidArgument (kBadFile) with a sentence that has the file as its subject.
template <typename... Args>
[[noreturn]] void refuse_header(fmt::format_string<Args...> format, Args&&... args) {
  throw InvalidArgument(ErrorKind::kBadFile, "has a damaged header: " +
                                                 fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fanin
