#pragma once

#include <optional>

#include "fanin/group.h"

namespace fanin::cli {

/// The group of the processes that a launcher has started, of which this is one; none if it was
/// started alone. Throws as join().
std::optional<Group> join_launched();

}  // namespace fanin::cli
