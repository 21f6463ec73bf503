#pragma once

#include <cstddef>

#include "core/run_in_parts.h"

namespace fanin {

/// Up to here the caller's thread is alone: training has a thread for each replica already.
inline constexpr std::size_t kOneThreadElements = std::size_t{1} << 20;

/// Calls body(begin, count) for all elements at once, or as run_in_parts() if they are many.
template <typename Body>
void run_by_size(Context& context, std::size_t element_count, const Body& body) {
  if (element_count > kOneThreadElements)
    run_in_parts(context, element_count, body);
  else if (element_count > 0)
    body(std::size_t{0}, element_count);
}

}  // namespace fanin
