#include "cli/train/train_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "cli/units.h"
#include "fanin/aggregation_plan.h"
#include "training/digits_parameters.h"

namespace fanin::cli {
namespace {

using training::StepTimes;
using training::TrainOptions;
using training::TrainReport;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// Of one step, on average.
double per_step(std::chrono::nanoseconds time, const StepTimes& times) {
  return seconds(time) / times.step_count;
}

/// How the terms of the gradient with most of them are summed, and why.
AggregationPlan explain_method(const TrainOptions& options) {
  return plan_aggregation(
      {.term_count = training::kPositionCount,
       .element_count = training::kPatchPixelCount * training::kPatchFeatureCount,
       .method = options.method,
       .terms_arrive = true});
}

std::string times_text(const TrainReport& report) {
  const StepTimes times = report.times();
  PageTable table{.header = {"of a step", "time", "share", ""}, .rows = {}};
  const auto add = [&](const char* what, std::chrono::nanoseconds time, const std::string& note) {
    table.rows.push_back({what, seconds_text(per_step(time, times)),
                          fmt::format("{:.0f} %", 100 * seconds(time) / seconds(times.whole)),
                          note});
  };
  add("forward and backward", times.computing, "");
  add("all-reduce", times.reducing,
      fmt::format("{:.0f} % hidden behind other work", 100 * times.overlap()));
  add("update", times.updating, "each variable as soon as its pack is there");
  add("waiting for packs", times.waiting, "after the backward pass");
  add("whole", times.whole, fmt::format("{} steps", times.step_count));
  return text_table(table);
}

}  // namespace

double accuracy(const training::Score& score) {
  return static_cast<double>(score.correct_count) / static_cast<double>(score.image_count);
}

std::string name_of(const OptimizerOptions& options) {
  return std::holds_alternative<SgdOptions>(options) ? "SGD" : "Adam";
}

std::string to_text(const TrainOptions& options, const TrainReport& report) {
  std::string text = fmt::format(
      "{} workers ({}) with {} devices each: {} epochs of 1437 handwritten digits, {} a step\n\n",
      options.worker_count, report.transport, options.devices_per_worker, options.epoch_count,
      report.batch_size);
  PageTable epochs{.header = {"epoch", "loss", "train", "test", "step", "hidden"}, .rows = {}};
  for (std::size_t i = 0; i < report.epochs.size(); ++i) {
    const training::Epoch& epoch = report.epochs[i];
    epochs.rows.push_back({fmt::format("{}", i + 1), fmt::format("{:.4f}", epoch.train.loss),
                           fmt::format("{:.1f} %", 100 * accuracy(epoch.train)),
                           fmt::format("{:.1f} %", 100 * accuracy(epoch.test)),
                           seconds_text(per_step(epoch.times.whole, epoch.times)),
                           fmt::format("{:.0f} %", 100 * epoch.times.overlap())});
  }
  text += text_table(epochs) + "\n" + times_text(report) + "\n";
  const AggregationPlan method = explain_method(options);
  text += fmt::format("method: {} ({})\n", name(method.method), method.reason);
  const PlannedPack& first = report.plan.packs.front();
  text +=
      fmt::format("spec: {}; {} packs of at most {}, the first by {} ({})\n",
                  to_string(options.spec), report.plan.packs.size(),
                  bytes_text(static_cast<std::size_t>(report.plan.request.packing.bytes_per_pack)),
                  first.algorithm, first.reason);
  for (const std::string& note : report.plan.notes) text += fmt::format("note: {}\n", note);
  text += fmt::format(
      "{:.2f} % of 360 unseen digits right after {}; weights {:016x}, equal on all "
      "workers; at most {} in buffers\n",
      100 * accuracy(report.epochs.back().test), seconds_text(report.seconds), report.final_hash,
      bytes_text(report.peak_bytes));
  return text;
}

std::string to_json(const TrainOptions& options, const TrainReport& report) {
  using Json = nlohmann::ordered_json;
  const StepTimes times = report.times();
  const auto milliseconds = [&](std::chrono::nanoseconds time) {
    return 1000 * per_step(time, times);
  };
  Json epochs = Json::array();
  for (const training::Epoch& epoch : report.epochs)
    epochs.push_back({{"loss", epoch.train.loss},
                      {"train_accuracy", accuracy(epoch.train)},
                      {"test_loss", epoch.test.loss},
                      {"test_accuracy", accuracy(epoch.test)},
                      {"step_ms", 1000 * per_step(epoch.times.whole, epoch.times)}});
  return Json{{"test_accuracy", accuracy(report.epochs.back().test)},
              {"final_hash", fmt::format("{:016x}", report.final_hash)},
              {"step_ms", milliseconds(times.whole)},
              {"overlap", times.overlap()},
              {"peak_bytes", report.peak_bytes},
              {"spec", to_string(options.spec)},
              {"method", name(explain_method(options).method)},
              {"compute_ms", milliseconds(times.computing)},
              {"all_reduce_ms", milliseconds(times.reducing)},
              {"update_ms", milliseconds(times.updating)},
              {"wait_ms", milliseconds(times.waiting)},
              {"workers", options.worker_count},
              {"devices", options.devices_per_worker},
              {"transport", report.transport},
              {"bytes_per_pack", report.plan.request.packing.bytes_per_pack},
              {"packs", report.plan.packs.size()},
              {"optimizer", name_of(options.optimizer)},
              {"batch", report.batch_size},
              {"seed", options.seed},
              {"seconds", report.seconds},
              {"epochs", epochs}}
      .dump();
}

}  // namespace fanin::cli
