#pragma once

#include "kernels/fold.h"

namespace fanin {

/// fold() for inputs that are floating-point numbers, and for integers.
void fold_floats(const Arithmetic& arithmetic, const Fold& fold);
void fold_integers(const Arithmetic& arithmetic, const Fold& fold);

/// Whether streaming stores go straight from registers to the targets. Otherwise they are not to
/// be had, or take a detour that pays only where all comes from memory.
bool streams_directly(const Arithmetic& arithmetic, const Fold& fold);

}  // namespace fanin
