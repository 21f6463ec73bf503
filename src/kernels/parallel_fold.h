#pragma once

#include <cstddef>

#include "fanin/context.h"
#include "kernels/fold.h"

namespace fanin {

/// Bytes moved up to which one thread is faster than handing half of them over (measured: they tie
/// between 48 and 140 KiB).
inline constexpr std::size_t kOneThreadBytes = std::size_t{96} << 10;

/// fold() by the context's threads: the elements are cut on borders of cache lines, one part for
/// each thread, or not at all where a hand-over would cost more than it saves. The same bits for
/// any number of threads. Allocates nothing. `fold.store` is ignored: this chooses.
/// A target that is also a source keeps what fold() promises.
void parallel_fold(Context& context, const Arithmetic& arithmetic, const Fold& fold);

}  // namespace fanin
