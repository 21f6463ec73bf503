#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare/measure.h"

namespace fanin::cli {

/// Which way to take, and why.
struct Recommendation {
  Way way = {};
  std::string reason;
};

/// The fastest way that rounds little and stays within the budget, if there is one; exact sums
/// where the others lose digits by cancellation.
Recommendation recommend(const std::vector<Measurement>& measurements,
                         std::optional<std::size_t> budget_bytes);

}  // namespace fanin::cli
