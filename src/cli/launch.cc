#include <fmt/core.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/launch/job.h"
#include "transports/host_memory.h"

namespace fanin::cli {
namespace {

std::string describe(const RankEnd& end) {
  return end.signal == 0
             ? fmt::format("it ended with exit code {}", end.exit_code)
             : fmt::format("signal {} ({}) ended it", end.signal, strsignal(end.signal));
}

nlohmann::ordered_json to_json(const JobEnd& job, int exit_code) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankEnd& end = job.ranks[rank];
    ranks.push_back({{"rank", rank},
                     {"exit_code", end.exit_code},
                     {"signal", end.signal == 0 ? nullptr : nlohmann::ordered_json(end.signal)},
                     {"seconds", end.seconds}});
  }
  nlohmann::ordered_json first = nullptr;
  if (job.first_failure) first = *job.first_failure;
  return {{"exit_code", exit_code}, {"first_failure", first}, {"ranks", ranks}};
}

int launch(const JobOptions& options, bool as_json) {
  const JobEnd job = run_job(options);
  int exit_code = 0;
  if (job.first_failure) {
    const RankEnd& first = job.ranks[static_cast<std::size_t>(*job.first_failure)];
    exit_code = first.exit_code;
    fmt::print(stderr, "fanin: rank {} of {} failed first: {} after {:.1f} s{}\n",
               *job.first_failure, job.ranks.size(), describe(first), first.seconds,
               job.ended_by_us == 0 ? ""
                                    : fmt::format("; {} still running {} ended", job.ended_by_us,
                                                  job.ended_by_us == 1 ? "was" : "were"));
  }
  if (as_json) fmt::print("{}\n", to_json(job, exit_code).dump());
  return exit_code;
}

}  // namespace

void add_launch(Command tool, ExitCode& exit_code) {
  struct Arguments {
    JobOptions job;
    double timeout = 0;
    bool as_json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  Command command = tool.add_subcommand("launch", "Start a program as N ranks of one group");
  command.add_option("-n,--ranks", arguments->job.rank_count, "How many ranks")
      .required()
      .in_range(1, kMaxHostRanks);
  Option timeout =
      command
          .add_option("--timeout", arguments->timeout,
                      "Seconds that a rank waits for the others, in joining and in each call")
          .above_zero();
  command.add_flag("--json", arguments->as_json,
                   "Print how each rank ended as the last line on stdout");
  command.add_option("program", arguments->job.command, "The program and its arguments, after --")
      .required();
  command.footer(
      "Example: fanin launch -n 4 -- ./train --steps 100\n"
      "Each line that a rank prints gets \"[rank] \" in front, unless there is only one rank. The\n"
      "ranks have nothing to read on stdin. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2\n"
      "are passed on to all. When one fails the others get SIGTERM, 3 seconds later SIGKILL, and\n"
      "whatever they started too. The exit code is that of the rank that failed first (128 + n "
      "for\n"
      "signal n), 0 if none did. Ranks read FANIN_RENDEZVOUS, FANIN_RANK, FANIN_WORLD_SIZE,\n"
      "FANIN_TIMEOUT_SECONDS and FANIN_SECRET, which is new and random for each job.");
  command.callback([arguments, timeout, &exit_code] {
    if (timeout.is_given()) arguments->job.timeout_seconds = arguments->timeout;
    // What a rank returned is passed on, also if it is none of the tool's own codes.
    exit_code = static_cast<ExitCode>(launch(arguments->job, arguments->as_json));
  });
}

}  // namespace fanin::cli
