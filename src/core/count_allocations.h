#pragma once

#include <cstdint>

namespace fanin {

/// How often this test program has called operator new, on any thread.
std::uint64_t allocation_count();

}  // namespace fanin
