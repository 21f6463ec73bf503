#include "cli/compare/measure_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "fanin/context.h"
#include "fanin/error.h"

namespace fanin::cli {

using training::StepTimes;

double seconds_of_step(const StepTimes& times) {
  return std::chrono::duration<double>(times.whole).count() / times.step_count;
}

StepTimes middle_half(std::vector<StepTimes> steps) {
  std::ranges::sort(steps, {}, &StepTimes::whole);
  const std::size_t left_out = steps.size() / 4;
  StepTimes middle;
  for (std::size_t i = left_out; i < steps.size() - left_out; ++i) middle.add(steps[i]);
  return middle;
}

std::vector<TrainingMeasurement> measure_trainings(
    const std::vector<TrainingWay>& ways, training::TrainOptions options, int round_count,
    const TrainOnce& train_once, const std::function<void(const TrainingNews&)>& on_step) {
  std::vector<TrainingMeasurement> measurements(ways.size());
  for (int round = 0; round < round_count; ++round)
    for (std::size_t w = 0; w < ways.size(); ++w) {
      options.method = ways[w].method;
      options.spec = ways[w].spec;
      std::vector<StepTimes> steps;
      Context::process().buffers().reset_peak();
      training::TrainReport report = train_once(options, [&](const training::StepNews& news) {
        steps.push_back(news.times);
        on_step({.way = ways[w], .round = round, .step = news});
      });
      options.bytes_per_pack = report.plan.request.packing.bytes_per_pack;
      TrainingMeasurement& measurement = measurements[w];
      measurement.peak_bytes = std::max(measurement.peak_bytes, report.peak_bytes);
      // Only worker 0 is told of steps, and only it shows anything.
      measurement.rounds.push_back(steps.empty() ? report.times() : middle_half(std::move(steps)));
      if (round == 0) {
        measurement.way = ways[w];
        measurement.report = std::move(report);
      } else if (report.final_hash != measurement.report.final_hash) {
        throw Unavailable(
            fmt::format("two trainings by {} ended with different weights, {:016x} and {:016x}; "
                        "the same seed, spec and packs should give the same bits",
                        ways[w].label, measurement.report.final_hash, report.final_hash));
      }
    }
  for (TrainingMeasurement& each : measurements)
    std::ranges::sort(each.rounds, {}, seconds_of_step);
  return measurements;
}

}  // namespace fanin::cli
