#pragma once

#include "schedule/window_program.h"

namespace fanin {

/// Finds the shared places of a program that is complete but for them, and adds to its readers
/// those who use a place of another rank.
void find_shared_places(WindowProgram& program);

}  // namespace fanin
