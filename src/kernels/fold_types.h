#pragma once

#include "kernels/fold.h"

namespace fanin {

/// fold() for inputs that are floating-point numbers, and for integers.
void fold_floats(const Arithmetic& arithmetic, const Fold& fold);
void fold_integers(const Arithmetic& arithmetic, const Fold& fold);

}  // namespace fanin
