#pragma once

#include <string>

#include "training/train.h"

namespace fanin::cli {

/// How a training went, for people: the epochs, and where the time of a step has gone.
std::string to_text(const training::TrainOptions& options, const training::TrainReport& report);

/// One JSON object for scripts.
std::string to_json(const training::TrainOptions& options, const training::TrainReport& report);

/// "SGD" or "Adam".
std::string name_of(const OptimizerOptions& options);

/// The share of the images that were told right, 0 to 1.
double accuracy(const training::Score& score);

}  // namespace fanin::cli
