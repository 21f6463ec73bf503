#pragma once

#include "fanin/context.h"
#include "kernels/fold.h"

namespace fanin {

/// fold() by the context's threads: the elements are cut on borders of cache lines, one part for
/// each thread, or not at all where a hand-over would cost more than it saves. The same bits for
/// any number of threads. Allocates nothing. `fold.store` is ignored: this chooses.
/// A target that is also a source keeps what fold() promises.
void parallel_fold(Context& context, const Arithmetic& arithmetic, const Fold& fold);

}  // namespace fanin
