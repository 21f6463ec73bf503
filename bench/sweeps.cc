#include "sweeps.h"

extern "C" void bench_sweep(float* numbers, std::size_t size, std::uint64_t count) {
  for (std::uint64_t sweep = 0; sweep < count; ++sweep)
    for (std::size_t i = 0; i < size; ++i) numbers[i] = numbers[i] * 0.5F + 1.0F;
}
