#pragma once

#include <cstdint>

namespace fanin {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

/// sum / divisor, rounded once to nearest, ties to even. `divisor` is at least 1.
float quotient_float32(Int128 sum, std::int64_t divisor);
double quotient_float64(Int128 sum, std::int64_t divisor);

}  // namespace fanin
