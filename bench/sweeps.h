#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Computes what a backward pass might: `count` times a multiplication and an addition of each of
/// the numbers, which stay small. Also for programs that are not C++.
void bench_sweep(float* numbers, std::size_t size, std::uint64_t count);
}
