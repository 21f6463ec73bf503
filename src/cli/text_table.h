#pragma once

#include <string>

#include "report/page.h"

namespace fanin::cli {

/// The table for a terminal: the first and the last column to the left, numbers to the right.
std::string text_table(const PageTable& table);

}  // namespace fanin::cli
