#include "kernels/parallel_fold.h"

#include <algorithm>

#include "core/thread_pool.h"

namespace fanin {
namespace {

// No two threads write to one cache line of an aligned target, whatever its type.
constexpr std::size_t kPartElements = 64;

}  // namespace

void parallel_fold(Context& context, const Arithmetic& arithmetic, const Fold& fold) {
  const std::size_t bytes = bytes_moved(arithmetic, fold);
  Fold whole = fold;
  whole.store = store_for(arithmetic, fold);
  const auto thread_count = static_cast<std::size_t>(context.thread_count());
  if (bytes <= kOneThreadBytes || thread_count == 1) return fanin::fold(arithmetic, whole);

  const std::size_t lines = (fold.count + kPartElements - 1) / kPartElements;
  const std::size_t part_elements = (lines + thread_count - 1) / thread_count * kPartElements;
  const std::size_t part_count = (fold.count + part_elements - 1) / part_elements;
  context.threads().run(static_cast<int>(part_count), [&](int index) {
    const std::size_t begin = static_cast<std::size_t>(index) * part_elements;
    Fold part = whole;
    part.begin += begin;
    part.count = std::min(part_elements, fold.count - begin);
    fanin::fold(arithmetic, part);
  });
}

}  // namespace fanin
