#include "cli/compare/compare_trainings.h"

#include <fmt/core.h>

#include "cli/compare/training_comparison.h"
#include "cli/progress.h"
#include "cli/train/launched_group.h"
#include "files/whole_file.h"

namespace fanin::cli {
namespace {

/// One bar for all rounds of all ways.
class CompareProgress {
 public:
  CompareProgress(std::size_t training_count, bool is_wanted)
      : training_count_(training_count), is_wanted_(is_wanted) {}

  void show(const TrainingNews& news, const TrainingComparison& comparison) {
    if (!bar_)
      bar_.emplace(training_count_ * static_cast<std::size_t>(news.step.step_count), is_wanted_,
                   Progress::Unit::kWork);
    bar_->start(fmt::format("round {}/{}  {}  epoch {}/{}  loss {:.3f}", news.round + 1,
                            comparison.rounds, news.way.label, news.step.epoch + 1,
                            comparison.options.epoch_count, news.step.score.loss));
    bar_->add(1);
  }

 private:
  const std::size_t training_count_;
  const bool is_wanted_;
  std::optional<Progress> bar_;
};

}  // namespace

std::vector<Option> add_compare_trainings_options(Command command,
                                                  CompareTrainingsArguments& arguments) {
  std::vector<Option> options = {
      command.add_option(
          "--methods", arguments.methods,
          fmt::format("Ways to sum the terms of one gradient, such as {}", kUsualMethods)),
      command.add_option("--specs", arguments.specs,
                         fmt::format("Ways to all-reduce packs, such as {}. Without --methods and "
                                     "--specs it is all of both",
                                     kUsualSpecs))};
  const std::vector<Option> training = add_training_options(command, arguments.training);
  options.insert(options.end(), training.begin(), training.end());
  return options;
}

void compare_trainings(const CompareTrainingsArguments& arguments) {
  const std::vector<TrainingWay> ways = training_ways(arguments.methods, arguments.specs);
  std::optional<Group> group = join_launched();
  const bool is_shown = !group || group->rank() == 0;
  TrainingComparison comparison{
      .options = arguments.training.options(group ? std::optional(group->size()) : std::nullopt),
      .rounds = arguments.rounds,
      .measurements = {},
      .recommendation = {}};
  std::optional<WholeFile> page;  // a place that cannot be written to is told before the work
  if (!arguments.html.empty() && is_shown) page.emplace(arguments.html);
  const training::Digits digits = training::load_digits();
  const TrainOnce train_once = [&](const training::TrainOptions& options,
                                   const training::OnStep& on_step) {
    return group ? training::train(*group, digits, options, on_step)
                 : training::train_in_threads(digits, options, on_step);
  };
  {
    CompareProgress progress(ways.size() * static_cast<std::size_t>(arguments.rounds),
                             !arguments.json);
    comparison.measurements =
        measure_trainings(ways, comparison.options, arguments.rounds, train_once,
                          [&](const TrainingNews& news) { progress.show(news, comparison); });
  }
  if (!is_shown) return;
  comparison.recommendation = recommend(comparison.measurements);
  if (page) {
    const std::string html = to_page(comparison);
    page->write(std::as_bytes(std::span(html)), 0);
    page->commit();
  }
  if (arguments.json)
    fmt::print("{}\n", to_json(comparison));
  else
    fmt::print("{}", to_text(comparison));
  if (page && !arguments.json) fmt::print("{}: the same with pictures\n", arguments.html);
}

}  // namespace fanin::cli
