#include <fmt/core.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/schedule_file.h"
#include "fanin/algorithms.h"
#include "fanin/error.h"
#include "kernels/fold.h"
#include "schedule/memory_program.h"
#include "schedule/message_program.h"
#include "schedule/window_program.h"

namespace fanin::cli {
namespace {

struct VerifyArguments {
  std::vector<std::string> files;
  int most_ranks = 64;
  bool as_json = false;
};

/// What was proved about one algorithm or one file.
struct Verdict {
  std::string subject;
  int schedule_count = 0;
  std::size_t step_count = 0;
  std::optional<std::string> error = std::nullopt;
};

/// Both proofs: of the schedule, and of what it is lowered to.
std::optional<std::string> find_any_error(const Schedule& schedule) {
  if (auto error = find_error(schedule)) return error;
  const StepIndex steps(schedule);
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
    for (const Outputs outputs : {Outputs::kSeparate, Outputs::kShared})
      for (const std::size_t most_nested : {std::size_t{0}, kMostNestedSources})
        if (auto error = find_error(lower_to_memory(steps, chunk, outputs, most_nested), steps,
                                    chunk, outputs))
          return fmt::format("{}, lowered to memory: {}", schedule.name, *error);
    if (auto error = find_error(lower_literally(steps, chunk), steps, chunk, Outputs::kSeparate))
      return fmt::format("{}, step by step: {}", schedule.name, *error);
  }
  if (auto error = find_error(lower_to_window(schedule), schedule))
    return fmt::format("{}, lowered to windows: {}", schedule.name, *error);
  if (auto error = find_error(lower_to_pads(schedule), schedule))
    return fmt::format("{}, lowered to pads: {}", schedule.name, *error);
  if (auto error = find_error(lower_to_messages(schedule), schedule))
    return fmt::format("{}, lowered to messages: {}", schedule.name, *error);
  return std::nullopt;
}

void prove(const Schedule& schedule, Verdict& verdict) {
  ++verdict.schedule_count;
  for (const Round& round : schedule.rounds) verdict.step_count += round.size();
  verdict.error = find_any_error(schedule);
}

/// All goals are proved for few ranks, because some are quadratic; an all-reduce for all of them.
constexpr int kMostRanksForAllGoals = 17;

/// Proofs take about as long as there are pairs of ranks.
std::size_t work_of(const std::vector<Topology>& topologies) {
  std::size_t work = 0;
  for (const Topology& topology : topologies)
    work += static_cast<std::size_t>(topology.rank_count() * topology.rank_count());
  return work;
}

Verdict verify_algorithm(std::string_view algorithm, const std::vector<Topology>& topologies,
                         Progress& progress) {
  Verdict verdict{.subject = std::string(algorithm)};
  for (const Topology& topology : topologies) {
    progress.start(fmt::format("proving {} of {} ranks", algorithm, topology.rank_count()));
    for (const Goal goal : all_goals()) {
      if (verdict.error) return verdict;
      if (goal != Goal::kAllReduce && topology.rank_count() > kMostRanksForAllGoals) continue;
      prove(build_schedule(algorithm, {.topology = topology, .goal = goal}), verdict);
      if (verdict.error)
        verdict.error =
            fmt::format("{} with {} workers of {} devices: {}", name(goal), topology.worker_count,
                        topology.devices_per_worker, *verdict.error);
    }
    progress.add(work_of({topology}));
  }
  return verdict;
}

/// All algorithms for 1 to `most_ranks` ranks, and some of them on two levels.
std::vector<Verdict> verify_all(int most_ranks, bool shows_progress) {
  std::vector<Topology> flat, two_levels;
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    flat.push_back({.worker_count = ranks});
    for (int devices = 2; devices <= ranks; ++devices)
      if (ranks % devices == 0)
        two_levels.push_back({.worker_count = ranks / devices, .devices_per_worker = devices});
  }
  constexpr std::array<std::string_view, 4> kPairs = {
      "direct/ring", "direct//ring", "shuffle/shuffle", "halving_doubling//double_tree"};
  Progress progress(work_of(flat) * algorithms().size() + work_of(two_levels) * kPairs.size(),
                    shows_progress, Progress::Unit::kWork);
  std::vector<Verdict> verdicts;
  for (const Algorithm& algorithm : algorithms())
    verdicts.push_back(verify_algorithm(algorithm.name, flat, progress));
  for (const std::string_view pair : kPairs)
    verdicts.push_back(verify_algorithm(pair, two_levels, progress));
  return verdicts;
}

Verdict verify_file(const std::string& path) {
  Verdict verdict{.subject = path};
  prove(read_schedule(path), verdict);
  return verdict;
}

void print_for_people(const Verdict& verdict) {
  if (verdict.error)
    fmt::print("{}: refused: {}\n", verdict.subject, *verdict.error);
  else
    fmt::print(
        "{}: proved, {} {} with {} steps, each also as lowered to memory, windows and messages\n",
        verdict.subject, verdict.schedule_count,
        verdict.schedule_count == 1 ? "schedule" : "schedules", verdict.step_count);
}

nlohmann::ordered_json to_json(const Verdict& verdict) {
  nlohmann::ordered_json json = {{"subject", verdict.subject},
                                 {"proved", !verdict.error},
                                 {"schedules", verdict.schedule_count},
                                 {"steps", verdict.step_count}};
  if (verdict.error) json["error"] = *verdict.error;
  return json;
}

}  // namespace

void add_verify(Command tool, ExitCode& exit_code) {
  auto arguments = std::make_shared<VerifyArguments>();
  Command command = tool.add_subcommand(
      "verify", "Prove schedules right without moving a byte: all algorithms, or those in files");
  command.add_option("files", arguments->files,
                     "Schedules as text; without any, every algorithm is proved");
  command.add_option("--ranks", arguments->most_ranks, "Prove algorithms for 1 to this many ranks")
      .with_default()
      .in_range(1, 256);
  command.add_flag("--json", arguments->as_json, "One JSON object for scripts");
  command.footer(
      "Example: fanin schedule direct --workers 4 > my.schedule; fanin verify my.schedule");
  command.callback([arguments, &exit_code] {
    std::vector<Verdict> verdicts;
    for (const std::string& path : arguments->files) verdicts.push_back(verify_file(path));
    if (arguments->files.empty()) verdicts = verify_all(arguments->most_ranks, !arguments->as_json);

    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Verdict& verdict : verdicts) {
      if (verdict.error) exit_code = ExitCode::kFailed;
      if (arguments->as_json)
        json.push_back(to_json(verdict));
      else
        print_for_people(verdict);
    }
    if (arguments->as_json) fmt::print("{}\n", nlohmann::ordered_json{{"verdicts", json}}.dump());
  });
}

}  // namespace fanin::cli
