#pragma once

#include <string>
#include <vector>

#include "cli/compare/measure_training.h"
#include "cli/compare/recommend_training.h"

namespace fanin::cli {

/// The same training in several ways, and what came out: everything that is shown.
struct TrainingComparison {
  training::TrainOptions options;  ///< but for what the ways differ in
  int rounds = 0;
  std::vector<TrainingMeasurement> measurements;
  TrainingRecommendation recommendation;
};

/// The labels of ways whose weights have the same bits, together; in the order of the ways.
std::vector<std::vector<std::string>> same_weights(
    const std::vector<TrainingMeasurement>& measurements);

/// As a table, for people.
std::string to_text(const TrainingComparison& comparison);
std::string to_json(const TrainingComparison& comparison);
/// As one self-contained page with pictures.
std::string to_page(const TrainingComparison& comparison);

}  // namespace fanin::cli
