#pragma once

#include <functional>
#include <vector>

#include "cli/compare/training_way.h"
#include "training/train.h"

namespace fanin::cli {

/// What a way to train has cost, and what it has brought.
struct TrainingMeasurement {
  TrainingWay way;
  training::TrainReport report;  ///< of the first round; the others end with the same weights
  /// The middle half of the steps of each round by their time, the fastest round first: what
  /// disturbed a few steps does not count.
  std::vector<training::StepTimes> rounds;
  std::size_t peak_bytes = 0;  ///< in buffers, the most of any round

  const training::StepTimes& median() const { return rounds[rounds.size() / 2]; }
};

/// Of one step, on average.
double seconds_of_step(const training::StepTimes& times);

/// The middle half of the steps by their time, added up. At least one step is needed.
training::StepTimes middle_half(std::vector<training::StepTimes> steps);

/// Trains once, as train() and train_in_threads() do.
using TrainOnce = std::function<training::TrainReport(const training::TrainOptions& options,
                                                      const training::OnStep& on_step)>;

/// Where measure_trainings() is.
struct TrainingNews {
  const TrainingWay& way;
  int round = 0;
  const training::StepNews& step;
};

/// Trains in every way, in turns, `round_count` times, with the same packs: those of the first
/// training, if they are to be measured. `on_step` is told of each step. Throws Unavailable
/// if rounds of one way end with different weights, and what training throws.
std::vector<TrainingMeasurement> measure_trainings(
    const std::vector<TrainingWay>& ways, training::TrainOptions options, int round_count,
    const TrainOnce& train_once, const std::function<void(const TrainingNews&)>& on_step);

}  // namespace fanin::cli
