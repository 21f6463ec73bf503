#pragma once

#include <cstddef>
#include <cstdint>

#include "fanin/optimizer.h"
#include "kernels/optimizer_kernels.h"

namespace fanin {

/// Throws as check().
void check_learning_rate(double learning_rate);

double learning_rate_of(const OptimizerOptions& options);

/// Arrays of one float32 for each element that are remembered from step to step.
std::size_t state_array_count(const OptimizerOptions& options);

/// The numbers of a step, counted from 1, of options that have been checked. As PyTorch: in
/// float64, and what the kernel takes is rounded once.
SgdStep make_step(const SgdOptions& options, double learning_rate, std::int64_t step);
AdamStep make_step(const AdamOptions& options, double learning_rate, std::int64_t step);

}  // namespace fanin
