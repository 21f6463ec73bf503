#include "cli/compare/training_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "cli/train/train_text.h"
#include "cli/units.h"
#include "report/bar_chart.h"
#include "report/line_chart.h"
#include "report/page.h"

namespace fanin::cli {
namespace {

using training::Epoch;
using training::StepTimes;

const Epoch& last_epoch(const TrainingMeasurement& each) { return each.report.epochs.back(); }

double part_of_step(std::chrono::nanoseconds time, const StepTimes& times) {
  return std::chrono::duration<double>(time).count() / times.step_count;
}

std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string subject_of(const TrainingComparison& comparison) {
  const training::TrainOptions& options = comparison.options;
  const training::TrainReport& report = comparison.measurements.front().report;
  return fmt::format(
      "{} ({}) with {} each, {} of 1437 handwritten digits, {} a step, {}, packs of at most {}",
      counted(options.worker_count, "worker"), report.transport,
      counted(options.devices_per_worker, "device"), counted(options.epoch_count, "epoch"),
      report.batch_size, name_of(options.optimizer),
      bytes_text(static_cast<std::size_t>(report.plan.request.packing.bytes_per_pack)));
}

std::string how_measured(const TrainingComparison& comparison) {
  const TrainingWay usual;
  return fmt::format(
      "Methods are with the spec {}, specs with the method {}. Times are of the middle half of the "
      "steps of worker 0, {}.",
      to_string(usual.spec), name(usual.method),
      comparison.rounds == 1 ? "of one round"
                             : fmt::format("medians of {} rounds in turns", comparison.rounds));
}

PageTable times_of(const TrainingComparison& comparison) {
  PageTable table{
      .header = {"way", "step", "spread", "compute", "all-reduce", "hidden", "update", "wait"},
      .rows = {}};
  for (const TrainingMeasurement& each : comparison.measurements) {
    const StepTimes& times = each.median();
    const double step = seconds_of_step(times);
    const auto part = [&](std::chrono::nanoseconds time) {
      return seconds_text(part_of_step(time, times));
    };
    table.rows.push_back(
        {each.way.label, seconds_text(step),
         fmt::format("{:.2f} to {:.2f}", seconds_of_step(each.rounds.front()) / step,
                     seconds_of_step(each.rounds.back()) / step),
         part(times.computing), part(times.reducing),
         fmt::format("{:.0f} %", 100 * times.overlap()), part(times.updating),
         part(times.waiting)});
  }
  return table;
}

PageTable results_of(const TrainingComparison& comparison) {
  PageTable table{.header = {"way", "in buffers", "loss", "right", "weights"}, .rows = {}};
  for (const TrainingMeasurement& each : comparison.measurements)
    table.rows.push_back({each.way.label, bytes_text(each.peak_bytes),
                          fmt::format("{:.4f}", last_epoch(each).train.loss),
                          fmt::format("{:.1f} %", 100 * accuracy(last_epoch(each).test)),
                          fmt::format("{:016x}", each.report.final_hash)});
  return table;
}

/// A page is too narrow for both tables side by side; a terminal is not.
PageTable side_by_side(PageTable left, const PageTable& right) {
  const auto append = [](std::vector<std::string>& row, const std::vector<std::string>& more) {
    row.insert(row.end(), more.begin() + 1, more.end());  // both begin with the way
  };
  append(left.header, right.header);
  for (std::size_t i = 0; i < left.rows.size(); ++i) append(left.rows[i], right.rows[i]);
  return left;
}

std::string advice_of(const TrainingComparison& comparison) {
  const TrainingRecommendation& advice = comparison.recommendation;
  return fmt::format("Use {}. {}", comparison.measurements[advice.way].way.label, advice.reason);
}

/// Which ways gave the same weights, and why the others did not.
std::string weights_text(const TrainingComparison& comparison) {
  const auto groups = same_weights(comparison.measurements);
  if (groups.size() == 1) return "All ways ended with the same weights, to the bit.";
  std::vector<std::string> shared;
  for (const std::vector<std::string>& group : groups)
    if (group.size() > 1) shared.push_back(fmt::format("{}", fmt::join(group, " = ")));
  const std::string who =
      shared.empty() ? "No two ways ended with the same weights."
                     : fmt::format("Same weights, to the bit: {}.", fmt::join(shared, "; "));
  return who +
         " All add up the same terms; where weights differ, it was in another order, which rounds "
         "differently.";
}

/// What the plans of all ways had to say, each once.
std::vector<std::string> notes_of(const TrainingComparison& comparison) {
  std::vector<std::string> notes;
  for (const TrainingMeasurement& each : comparison.measurements)
    for (const std::string& note : each.report.plan.notes)
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  return notes;
}

template <typename Value, typename Text>
std::string chart(const TrainingComparison& comparison, const Value& value, const Text& text) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < comparison.measurements.size(); ++i) {
    const TrainingMeasurement& each = comparison.measurements[i];
    bars.push_back({each.way.label, value(each), text(each), i == comparison.recommendation.way});
  }
  return bar_chart(bars);
}

/// Packs and updates that go on while replicas compute take no time of their own.
std::string parts_chart(const TrainingComparison& comparison) {
  std::vector<PartedBar> bars;
  for (const TrainingMeasurement& each : comparison.measurements) {
    const StepTimes& times = each.median();
    const auto rest = times.whole - times.computing - times.waiting;
    bars.push_back({each.way.label,
                    {part_of_step(times.computing, times), part_of_step(times.waiting, times),
                     std::max(0.0, part_of_step(rest, times))}});
  }
  return share_chart({"computing", "waiting", "last updates"}, bars);
}

template <typename Value>
std::string curves(const TrainingComparison& comparison, const std::string& what,
                   const Value& value) {
  std::vector<Line> lines;
  for (const TrainingMeasurement& each : comparison.measurements) {
    Line line{.label = each.way.label, .values = {}};
    for (const Epoch& epoch : each.report.epochs) line.values.push_back(value(epoch));
    lines.push_back(std::move(line));
  }
  return line_chart(lines, "epoch", what);
}

nlohmann::ordered_json to_json(const TrainingMeasurement& each) {
  const StepTimes& times = each.median();
  const auto milliseconds = [&](std::chrono::nanoseconds time) {
    return 1000 * part_of_step(time, times);
  };
  auto epochs = nlohmann::ordered_json::array();
  for (const Epoch& epoch : each.report.epochs)
    epochs.push_back({{"loss", epoch.train.loss},
                      {"train_accuracy", accuracy(epoch.train)},
                      {"test_loss", epoch.test.loss},
                      {"test_accuracy", accuracy(epoch.test)}});
  return {{"way", each.way.label},
          {"method", name(each.way.method)},
          {"spec", to_string(each.way.spec)},
          {"algorithm", each.report.plan.packs.front().algorithm},
          {"test_accuracy", accuracy(last_epoch(each).test)},
          {"loss", last_epoch(each).train.loss},
          {"step_ms", milliseconds(times.whole)},
          {"least_step_ms", 1000 * seconds_of_step(each.rounds.front())},
          {"most_step_ms", 1000 * seconds_of_step(each.rounds.back())},
          {"compute_ms", milliseconds(times.computing)},
          {"all_reduce_ms", milliseconds(times.reducing)},
          {"update_ms", milliseconds(times.updating)},
          {"wait_ms", milliseconds(times.waiting)},
          {"overlap", times.overlap()},
          {"peak_bytes", each.peak_bytes},
          {"final_hash", fmt::format("{:016x}", each.report.final_hash)},
          {"epochs", epochs}};
}

}  // namespace

std::vector<std::vector<std::string>> same_weights(
    const std::vector<TrainingMeasurement>& measurements) {
  std::vector<std::uint64_t> hashes;
  std::vector<std::vector<std::string>> groups;
  for (const TrainingMeasurement& each : measurements) {
    const auto found = std::ranges::find(hashes, each.report.final_hash);
    const auto place = static_cast<std::size_t>(found - hashes.begin());
    if (found == hashes.end()) {
      hashes.push_back(each.report.final_hash);
      groups.emplace_back();
    }
    groups[place].push_back(each.way.label);
  }
  return groups;
}

std::string to_text(const TrainingComparison& comparison) {
  std::string text =
      fmt::format("{}\n{}\n\n{}\n", subject_of(comparison), how_measured(comparison),
                  text_table(side_by_side(times_of(comparison), results_of(comparison))));
  for (const std::string& note : notes_of(comparison)) text += fmt::format("note: {}\n", note);
  return text + weights_text(comparison) + "\n" + advice_of(comparison) + "\n";
}

std::string to_json(const TrainingComparison& comparison) {
  const training::TrainOptions& options = comparison.options;
  const training::TrainReport& first = comparison.measurements.front().report;
  auto ways = nlohmann::ordered_json::array();
  for (const TrainingMeasurement& each : comparison.measurements) ways.push_back(to_json(each));
  nlohmann::ordered_json advice = to_json(comparison.measurements[comparison.recommendation.way]);
  return nlohmann::ordered_json{{"workers", options.worker_count},
                                {"devices", options.devices_per_worker},
                                {"transport", first.transport},
                                {"epochs", options.epoch_count},
                                {"batch", first.batch_size},
                                {"width", options.width},
                                {"bytes_per_pack", first.plan.request.packing.bytes_per_pack},
                                {"packs", first.plan.packs.size()},
                                {"optimizer", name_of(options.optimizer)},
                                {"seed", options.seed},
                                {"rounds", comparison.rounds},
                                {"steps", first.times().step_count},
                                {"ways", ways},
                                {"same_weights", same_weights(comparison.measurements)},
                                {"notes", notes_of(comparison)},
                                {"recommendation",
                                 {{"way", advice["way"]},
                                  {"method", advice["method"]},
                                  {"spec", advice["spec"]},
                                  {"reason", comparison.recommendation.reason}}}}
      .dump();
}

std::string to_page(const TrainingComparison& comparison) {
  Page page("The same training in several ways");
  page.add_paragraph(subject_of(comparison) + ".");
  page.add_result(advice_of(comparison));
  page.add_paragraph(how_measured(comparison));
  page.add_figure("Time of a step", chart(
                                        comparison,
                                        [](const TrainingMeasurement& each) {
                                          return seconds_of_step(each.median());
                                        },
                                        [](const TrainingMeasurement& each) {
                                          return seconds_text(seconds_of_step(each.median()));
                                        }));
  page.add_figure("Where the time of a step goes", parts_chart(comparison));
  page.add_figure(
      "Most memory in buffers",
      chart(
          comparison,
          [](const TrainingMeasurement& each) { return static_cast<double>(each.peak_bytes); },
          [](const TrainingMeasurement& each) { return bytes_text(each.peak_bytes); }));
  page.add_figure("Loss", curves(comparison, "cross entropy of the digits that are learned",
                                 [](const Epoch& epoch) { return epoch.train.loss; }));
  page.add_figure("Digits told right",
                  curves(comparison, "% of 360 unseen ones",
                         [](const Epoch& epoch) { return 100 * accuracy(epoch.test); }));
  page.add_paragraph("Lines that lie on each other are striped. " + weights_text(comparison));
  page.add_heading("Times of a step");
  page.add_table(times_of(comparison));
  page.add_heading("What came out");
  page.add_table(results_of(comparison));
  for (const std::string& note : notes_of(comparison)) page.add_paragraph(note);
  return page.html();
}

}  // namespace fanin::cli
