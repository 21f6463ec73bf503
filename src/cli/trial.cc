#include <fmt/core.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/trial/trials.h"
#include "core/require.h"
#include "files/whole_file.h"

namespace fanin::cli {
namespace {

struct TrialArguments {
  std::string name;
  bool is_quick = false;
  std::uint64_t seed = 1;
  std::string json_path;
};

const TrialKind& find_trial(const std::string& name) {
  std::vector<std::string_view> names;
  for (const TrialKind& trial : trials()) {
    if (trial.name == name) return trial;
    names.push_back(trial.name);
  }
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format("there is no trial \"{}\"; use one of {}", name, fmt::join(names, ", ")));
}

double share(int part, int whole) { return whole == 0 ? 1.0 : static_cast<double>(part) / whole; }

nlohmann::ordered_json to_json(const TrialArguments& arguments, const Figures& figures,
                               double seconds) {
  nlohmann::ordered_json json{{"trial", arguments.name},
                              {"seed", arguments.seed},
                              {"quick", arguments.is_quick},
                              {"seconds", seconds},
                              {"runs", figures.runs},
                              {"calls", figures.calls},
                              {"returned_in_time", share(figures.in_time, figures.calls)},
                              {"errors", figures.errors},
                              {"named_the_right_rank", share(figures.named, figures.errors)},
                              {"wrong_answers", figures.wrong},
                              {"did_not_come_back", figures.stuck},
                              {"left_behind", figures.left}};
  if (figures.deaths > 0) {
    json["deaths_noticed"] = figures.deaths;
    json["within_100_ms"] = share(figures.noticed, figures.deaths);
    json["longest_ms"] = figures.longest_ms;
  }
  json["complaints"] = figures.complaints;
  return json;
}

void print(const TrialKind& trial, const Figures& figures, double seconds) {
  fmt::print("{}: {}\n", trial.name, trial.summary);
  fmt::print("  {} runs in {:.0f} s, {} calls of those who had no fault\n", figures.runs, seconds,
             figures.calls);
  fmt::print("  returned in time           {:.1f} %\n",
             100 * share(figures.in_time, figures.calls));
  fmt::print("  errors that named the rank {:.1f} % of {}\n",
             100 * share(figures.named, figures.errors), figures.errors);
  fmt::print("  wrong answers              {}\n", figures.wrong);
  fmt::print("  did not come back          {}\n", figures.stuck);
  fmt::print("  left behind                {}\n", figures.left);
  if (figures.deaths > 0)
    fmt::print(
        "  deaths noticed in 100 ms   {:.1f} % of {} (a core for each rank), at most {:.0f} ms\n",
        100 * share(figures.noticed, figures.deaths), figures.deaths, figures.longest_ms);
  constexpr std::size_t kMostShown = 20;
  for (std::size_t i = 0; i < std::min(figures.complaints.size(), kMostShown); ++i)
    fmt::print("  ! {}\n", figures.complaints[i]);
  if (figures.complaints.size() > kMostShown)
    fmt::print("  ! and {} more\n", figures.complaints.size() - kMostShown);
}

ExitCode run(const TrialArguments& arguments) {
  const TrialKind& trial = find_trial(arguments.name);
  if (!arguments.json_path.empty()) check_target(arguments.json_path);
  const TrialSize size{.is_quick = arguments.is_quick, .seed = arguments.seed};
  Figures figures;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(trial.count(size), true, Progress::Unit::kWork);
    trial.run(size, figures, progress);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print(trial, figures, seconds);
  if (!arguments.json_path.empty()) {
    const std::string text = to_json(arguments, figures, seconds).dump(2) + "\n";
    WholeFile file(arguments.json_path);
    file.write(std::as_bytes(std::span(text)), 0);
    file.commit();
  }
  return figures.is_good() ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

void add_trial(Command tool, ExitCode& exit_code) {
  auto arguments = std::make_shared<TrialArguments>();
  Command command = tool.add_subcommand(
      "trial", "Kill, stop, delay and mislead real processes, and look at what the others do");
  command
      .add_option("TRIAL", arguments->name,
                  "kill, stop, sleep, mismatch, stranger, storm or hostile")
      .required();
  command.add_flag("--quick", arguments->is_quick, "Some of the runs, drawn by lot");
  command.add_option("--seed", arguments->seed, "Of the lot").with_default();
  command.add_option("--json", arguments->json_path, "Write the figures into this file");
  command.footer(
      "Returns 1 if a figure is not what it must be.\nExample: fanin trial kill --quick");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace fanin::cli
