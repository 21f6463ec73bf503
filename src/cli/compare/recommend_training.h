#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/compare/measure_training.h"

namespace fanin::cli {

/// Which way to take, and why.
struct TrainingRecommendation {
  std::size_t way = 0;  ///< its place among the measurements
  std::string reason;
};

/// The fastest of at least two ways. Where others are nearly as fast, within the spread of the
/// rounds, one of these that holds much less memory, or else the one that is taken unless told;
/// this one too if the rounds are too disturbed to tell.
TrainingRecommendation recommend(const std::vector<TrainingMeasurement>& measurements);

}  // namespace fanin::cli
