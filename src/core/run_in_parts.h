#pragma once

#include <algorithm>
#include <cstddef>

#include "core/thread_pool.h"
#include "fanin/context.h"

namespace fanin {

/// Calls body(begin, count) for parts of `element_count` elements, one for each thread of the
/// context, and returns when all are done. No two parts write to one cache line of an aligned
/// target, whatever its type. `body` must not throw.
template <typename Body>
void run_in_parts(Context& context, std::size_t element_count, const Body& body) {
  constexpr std::size_t kStep = 64;
  const auto thread_count = static_cast<std::size_t>(context.thread_count());
  const std::size_t steps = (element_count + kStep - 1) / kStep;
  const std::size_t part_elements = (steps + thread_count - 1) / thread_count * kStep;
  if (part_elements == 0) return;
  const std::size_t part_count = (element_count + part_elements - 1) / part_elements;
  context.threads().run(static_cast<int>(part_count), [&](int index) {
    const std::size_t begin = static_cast<std::size_t>(index) * part_elements;
    body(begin, std::min(part_elements, element_count - begin));
  });
}

}  // namespace fanin
