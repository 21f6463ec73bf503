#pragma once

#include <string>

#include "fanin/schedule.h"

namespace fanin::cli {

/// Reads a schedule's text form. Throws InvalidArgument with the path and the line.
Schedule read_schedule(const std::string& path);

}  // namespace fanin::cli
