#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/collective_options.h"
#include "cli/commands.h"
#include "cli/schedule_file.h"
#include "cli/units.h"
#include "core/require.h"
#include "executor/trial.h"

namespace fanin::cli {
namespace {

struct RunArguments {
  CollectiveArguments collective;
  std::string bytes = "4M";
  std::string dtype = "float32";
  std::string op = "sum";
  double timeout_seconds = 60;
  int repeat_count = 10;
  bool is_literal = false;
  bool shares_output = false;
  bool as_json = false;
};

/// What was run, and how long each time took.
struct RunResult {
  const Schedule& schedule;
  Trial::Options options;
  std::size_t moved_bytes;
  std::vector<double> seconds;  // sorted
  std::optional<std::string> wrong;

  double best() const { return seconds.front(); }
  double median() const { return seconds[seconds.size() / 2]; }
};

/// A schedule from a file if there is one of this name, and otherwise from the table.
Schedule find_schedule(const CollectiveArguments& arguments) {
  if (!std::filesystem::exists(arguments.algorithm)) return arguments.build();
  return read_schedule(arguments.algorithm);
}

Trial::Options options_of(const RunArguments& arguments) {
  const DType dtype = parse_dtype(arguments.dtype);
  return {.element_count = parse_bytes(arguments.bytes) / size_of(dtype),
          .dtype = dtype,
          .op = parse_reduce_op(arguments.op),
          .outputs = arguments.shares_output ? Outputs::kShared : Outputs::kSeparate,
          .lowering = arguments.is_literal ? Lowering::kLiteral : Lowering::kFused};
}

RunResult run_schedule(const Schedule& schedule, const RunArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  const RunLimits limits{
      .deadline = deadline_after(std::chrono::duration<double>(arguments.timeout_seconds))};
  const Trial::Options options = options_of(arguments);
  Trial trial(schedule, options, Context::process());
  RunResult result{schedule, options, trial.input_bytes() + trial.output_bytes(), {}, {}};
  for (int i = 0; i < arguments.repeat_count; ++i) {
    const Clock::time_point begin = Clock::now();
    trial.run(limits);
    result.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::ranges::sort(result.seconds);
  result.wrong = trial.find_wrong();
  return result;
}

std::string to_json(const RunResult& result) {
  nlohmann::ordered_json json = {
      {"schedule", result.schedule.name},
      {"goal", name(result.schedule.goal)},
      {"ranks", result.schedule.rank_count},
      {"elements", result.options.element_count},
      {"dtype", name(result.options.dtype)},
      {"op", name(result.options.op)},
      {"lowering", result.options.lowering == Lowering::kLiteral ? "literal" : "fused"},
      {"bytes_moved", result.moved_bytes},
      {"best_seconds", result.best()},
      {"median_seconds", result.median()},
      {"right", !result.wrong}};
  if (result.wrong) json["wrong"] = *result.wrong;
  return json.dump();
}

std::string to_text(const RunResult& result) {
  const Schedule& schedule = result.schedule;
  const std::string what = fmt::format(
      "{} by {} of {} ranks, {} of {}{}", name(schedule.goal), schedule.name, schedule.rank_count,
      bytes_text(result.options.element_count * size_of(result.options.dtype)),
      name(result.options.dtype),
      result.options.lowering == Lowering::kLiteral ? ", steps as written" : "");
  if (result.wrong) return fmt::format("{}: wrong: {}\n", what, *result.wrong);
  return fmt::format(
      "{}: right on every rank\n"
      "best of {}: {}, median {}; inputs and outputs are {}, at best {:.1f} GB/s\n",
      what, result.seconds.size(), seconds_text(result.best()), seconds_text(result.median()),
      bytes_text(result.moved_bytes),
      static_cast<double>(result.moved_bytes) / std::max(result.best(), 1e-9) / 1e9);
}

}  // namespace

void add_run(Command tool, ExitCode& exit_code) {
  Command command = tool.add_subcommand(
      "run", "Run a schedule on real data in this process, check the result and time it");
  const auto arguments = std::make_shared<RunArguments>();
  add_collective_options(command, arguments->collective,
                         "Name of the algorithm, or a file with a schedule as text");
  command.add_option("--bytes", arguments->bytes, "Of the whole data, such as 64M").with_default();
  command.add_option("--dtype", arguments->dtype, "Of its elements").with_default();
  command.add_option("--op", arguments->op, "sum, mean, min, max or prod").with_default();
  command.add_option("--repeat", arguments->repeat_count, "How often it runs")
      .in_range(1, 1'000'000)
      .with_default();
  command.add_option("--timeout", arguments->timeout_seconds, "Seconds for all runs together")
      .above_zero()
      .with_default();
  command.add_flag("--literal", arguments->is_literal,
                   "The steps as they are written, as networks do them");
  command.add_flag("--shared", arguments->shares_output,
                   "One output for all ranks, as for results that nobody changes");
  command.add_flag("--json", arguments->as_json, "One JSON object for scripts");
  command.footer("Example: fanin run ring --workers 4 --bytes 64M --literal");
  command.callback([arguments, &exit_code] {
    const Schedule schedule = find_schedule(arguments->collective);
    const RunResult result = run_schedule(schedule, *arguments);
    if (arguments->as_json)
      fmt::print("{}\n", to_json(result));
    else
      fmt::print("{}", to_text(result));
    if (result.wrong) exit_code = ExitCode::kFailed;
  });
}

}  // namespace fanin::cli
