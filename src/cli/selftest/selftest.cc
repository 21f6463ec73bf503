// Collectives on whatever group this process was launched in, checked.

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/commands.h"
#include "cli/selftest/checks.h"
#include "fanin/join.h"

namespace fanin::cli {
namespace {

struct SelftestArguments {
  int threads = 0;
  std::string algorithm;
  std::size_t elements = 1'000'003;
  bool as_json = false;
};

Tally check(Group& group, const SelftestArguments& arguments) {
  if (!arguments.algorithm.empty())
    return check_algorithm(group, arguments.algorithm, arguments.elements);
  Tally tally = check_group(group);
  tally.add(check_collectives(group));
  return tally;
}

/// Threads of this process take the part of the ranks.
Tally check_threads(const SelftestArguments& arguments) {
  std::vector<Group> groups = in_process(arguments.threads);
  std::vector<Tally> tallies(groups.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < groups.size(); ++i)
      threads.emplace_back([&, i] { tallies[i] = check(groups[i], arguments); });
  }
  Tally all;
  for (const Tally& tally : tallies) all.add(tally);
  if (arguments.algorithm.empty()) all.add(check_replicas(arguments.threads));
  return all;
}

void report(const Tally& tally, int size, std::string_view transport, double seconds,
            const SelftestArguments& arguments) {
  if (arguments.as_json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"ranks", size},
                                              {"transport", transport},
                                              {"right", tally.right},
                                              {"wrong", tally.wrong},
                                              {"seconds", seconds}}
                           .dump());
    return;
  }
  const std::string what = arguments.algorithm.empty()
                               ? fmt::format("{} dtypes, every op", kDTypeCount)
                               : fmt::format("by {}", arguments.algorithm);
  fmt::print("selftest: {} {}, {}: {} results right, {} wrong ({}), {:.2f} s\n", size,
             size == 1 ? "rank" : "ranks", transport, tally.right, tally.wrong.size(), what,
             seconds);
}

ExitCode run(const SelftestArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Tally tally;
  int rank = 0;
  int size = arguments.threads;
  std::string transport = "in-process";
  if (arguments.threads > 0) {
    tally = check_threads(arguments);
  } else {
    Group group = join(JoinOptions::from_environment());
    rank = group.rank();
    size = group.size();
    transport = group.transport();
    tally = check(group, arguments);
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (rank == 0) report(tally, size, transport, time.count(), arguments);
  for (const std::string& what : tally.wrong)
    fmt::print(stderr, "fanin: rank {}: wrong: {}\n", rank, what);
  return tally.wrong.empty() ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

void add_selftest(Command tool, ExitCode& exit_code) {
  auto arguments = std::make_shared<SelftestArguments>();
  Command command = tool.add_subcommand(
      "selftest",
      "All-reduce every dtype, op and several sizes, try every other collective, and check the "
      "results");
  command
      .add_option("--threads", arguments->threads,
                  "As many ranks as threads of this process, instead of a launcher's")
      .in_range(1, 64);
  command.add_option("--algorithm", arguments->algorithm,
                     "One sum by this algorithm only: ring, nccl/xring, ...");
  command.add_option("--elements", arguments->elements, "Of that sum; 1000003 unless told");
  command.add_flag("--json", arguments->as_json, "One JSON object for scripts");
  command.footer(
      "Runs on the group that it was launched in, and alone as a group of one.\n"
      "Example: fanin launch -n 4 -- fanin selftest");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace fanin::cli
