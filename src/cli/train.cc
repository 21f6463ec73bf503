#include "training/train.h"

#include <fmt/core.h>

#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/train/gather_traces.h"
#include "cli/train/launched_group.h"
#include "cli/train/train_text.h"
#include "cli/train/training_arguments.h"
#include "cli/units.h"
#include "files/whole_file.h"
#include "report/trace_file.h"

namespace fanin::cli {
namespace {

struct TrainArguments {
  TrainingArguments training;
  std::string spec = to_string(training::TrainOptions().spec);
  std::string method = "auto";
  int passes = 1;
  double clip_norm = 0;
  int threads = 0;
  std::string trace;
  bool json = false;
};

training::TrainOptions options_of(const TrainArguments& arguments,
                                  const std::optional<Group>& group) {
  training::TrainOptions options =
      arguments.training.options(group ? std::optional(group->size()) : std::nullopt);
  options.spec = AllReduceSpec(arguments.spec);
  options.method = parse_aggregation_method(arguments.method);
  options.pass_count = arguments.passes;
  if (arguments.clip_norm != 0) options.clip_norm = arguments.clip_norm;
  options.thread_count = arguments.threads;
  return options;
}

/// A bar with loss, accuracy, step time and what was hidden, of the last steps.
class TrainProgress {
 public:
  explicit TrainProgress(bool is_wanted) : is_wanted_(is_wanted) {}

  void show(const training::StepNews& news, int epoch_count) {
    if (!bar_)
      bar_.emplace(static_cast<std::size_t>(news.step_count), is_wanted_, Progress::Unit::kWork);
    if (news.epoch != epoch_) sum_ = {};
    epoch_ = news.epoch;
    sum_.add(news.times);
    correct_ = news.score.correct_count;
    bar_->start(fmt::format(
        "epoch {}/{}  loss {:.3f}  right {:.0f} %  step {}  hidden {:.0f} %", news.epoch + 1,
        epoch_count, news.score.loss, 100 * accuracy(news.score),
        seconds_text(std::chrono::duration<double>(sum_.whole).count() / sum_.step_count),
        100 * sum_.overlap()));
    bar_->add(1);
  }

 private:
  const bool is_wanted_;
  std::optional<Progress> bar_;
  int epoch_ = -1;
  std::size_t correct_ = 0;
  training::StepTimes sum_;
};

void write_traces(std::span<const ProcessTrace> traces, WholeFile& file) {
  std::size_t offset = 0;
  write_trace(traces, [&](std::string_view piece) {
    file.write(std::as_bytes(std::span(piece)), offset);
    offset += piece.size();
  });
  file.commit();
}

void run_train(const TrainArguments& arguments) {
  std::optional<Group> group = join_launched();
  const int rank = group ? group->rank() : 0;
  training::TrainOptions options = options_of(arguments, group);
  std::optional<WholeFile> file;  // a place that cannot be written to is told before the work
  std::optional<Trace> trace;
  if (!arguments.trace.empty()) {
    if (rank == 0) file.emplace(arguments.trace);
    options.trace = &trace.emplace();
  }
  training::TrainReport report;
  {
    TrainProgress progress(!arguments.json);
    const auto show = [&](const training::StepNews& news) {
      progress.show(news, options.epoch_count);
    };
    const training::Digits digits = training::load_digits();
    report = group ? training::train(*group, digits, options, show)
                   : training::train_in_threads(digits, options, show);
  }
  if (trace && group) {
    const std::vector<ProcessTrace> traces = gather_traces(*group, *trace);
    if (file) write_traces(traces, *file);
  } else if (trace) {
    const ProcessTrace alone{.rank = 0, .name = "all workers", .record = trace->take()};
    write_traces({&alone, 1}, *file);
  }
  if (rank != 0) return;
  if (arguments.json)
    fmt::print("{}\n", to_json(options, report));
  else
    fmt::print("{}", to_text(options, report));
  if (file && !arguments.json)
    fmt::print("{}: the trace, for https://ui.perfetto.dev\n", arguments.trace);
}

}  // namespace

void add_train(Command tool, ExitCode& /*exit_code*/) {
  const auto arguments = std::make_shared<TrainArguments>();
  Command command = tool.add_subcommand(
      "train", "Learn handwritten digits on several workers, with packs that overlap the updates");
  add_training_options(command, arguments->training);
  command.add_option("--seed", arguments->training.seed, "Other weights and batches")
      .with_default();
  command.add_option("--spec", arguments->spec, "How packs are all-reduced, see fanin plan --help")
      .with_default();
  command
      .add_option("--method", arguments->method,
                  "Sums the terms of one gradient: add_n, tree, accumulate_n or auto")
      .with_default();
  command
      .add_option("--passes", arguments->passes,
                  "Backward passes whose gradients are added up before a step")
      .with_default()
      .in_range(1, 1024);
  command
      .add_option("--clip-norm", arguments->clip_norm,
                  "Clip the gradients to this global norm; no update can begin before the last "
                  "pack then")
      .above_zero();
  command.add_option("--threads", arguments->threads,
                     "Of each worker, for its replicas; as many as these unless told");
  command.add_option("--trace", arguments->trace,
                     "Write what happened when, on all ranks, for https://ui.perfetto.dev");
  command.add_flag("--json", arguments->json, "Print an object, for scripts");
  command.footer(
      "The same seed, spec and packs give the same weights, to the bit: in one process or many.\n"
      "Example: fanin launch -n 4 -- fanin train --devices 2 --spec nccl/xring --trace steps.json");
  command.callback([arguments] { run_train(*arguments); });
}

}  // namespace fanin::cli
