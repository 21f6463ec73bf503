#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/file_descriptor.h"

namespace fanin::cli {

/// A program that was started as one rank, in a process group of its own. It dies with this
/// process.
struct RankProcess {
  pid_t pid = -1;
  FileDescriptor output;  // what it prints
  FileDescriptor errors;
};

/// Without a value the variable is not set.
using Variables = std::vector<std::pair<std::string, std::optional<std::string>>>;

/// Starts the program with `variables` changed in its environment, and nothing to read. Throws
/// InvalidArgument when there is no such program, Unavailable when the system refuses.
RankProcess start_rank(const std::vector<std::string>& command, const Variables& variables);

}  // namespace fanin::cli
