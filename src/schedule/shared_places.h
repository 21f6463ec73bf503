#pragma once

#include "schedule/window_program.h"

namespace fanin {

/// Puts slots into the places of others where that can be, in a program in which each has a place
/// of its own, and adds to its readers those who use a place of another rank.
void share_places(WindowProgram& program);

}  // namespace fanin
