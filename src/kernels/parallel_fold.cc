#include "kernels/parallel_fold.h"

#include "core/run_in_parts.h"

namespace fanin {

void parallel_fold(Context& context, const Arithmetic& arithmetic, const Fold& fold) {
  const std::size_t bytes = bytes_moved(arithmetic, fold);
  Fold whole = fold;
  whole.store = store_for(arithmetic, fold);
  if (bytes <= kOneThreadBytes || context.thread_count() == 1)
    return fanin::fold(arithmetic, whole);

  run_in_parts(context, fold.count, [&](std::size_t begin, std::size_t count) {
    Fold part = whole;
    part.begin += begin;
    part.count = count;
    fanin::fold(arithmetic, part);
  });
}

}  // namespace fanin
