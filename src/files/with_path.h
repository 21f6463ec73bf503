#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "fanin/error.h"

namespace fanin {

/// What `call` returns. Puts the path before the sentence of an InvalidArgument, which has the file
/// as its subject: "is empty" becomes "a.npy is empty".
template <typename Call>
auto with_path(const std::filesystem::path& path, const Call& call) {
  try {
    return call();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(error.kind(), fmt::format("{} {}", path.string(), error.what()));
  }
}

}  // namespace fanin
