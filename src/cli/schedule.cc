#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/commands.h"
#include "fanin/algorithms.h"

namespace fanin::cli {
namespace {

struct Arguments {
  std::string algorithm;
  Topology topology;
  bool as_text = false;
  bool as_json = false;
};

std::string list_algorithms() {
  std::string list = "Algorithms:\n";
  for (const Algorithm& algorithm : algorithms())
    list += fmt::format("  {:<27} {}\n", algorithm.name, algorithm.summary);
  return list + "\nExample: fanin schedule direct --workers 3";
}

}  // namespace

void add_schedule(CLI::App& app, ExitCode& /*exit_code*/) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "schedule", "Print an algorithm's schedule: who sums what, round by round");
  command->add_option("algorithm", arguments->algorithm, "Name of the algorithm")->required();
  command->add_option("--workers", arguments->topology.worker_count, "Number of workers")
      ->capture_default_str();
  command->add_option("--devices", arguments->topology.devices_per_worker, "Devices of each worker")
      ->capture_default_str();
  CLI::Option* text = command->add_flag("--text", arguments->as_text, "As text (the default)");
  command->add_flag("--json", arguments->as_json, "As one JSON object")->excludes(text);
  command->footer(list_algorithms());
  command->callback([arguments] {
    const Schedule schedule = find_algorithm(arguments->algorithm).build(arguments->topology);
    if (arguments->as_json)
      fmt::print("{}\n", to_json(schedule));
    else
      fmt::print("{}", to_text(schedule));
  });
}

}  // namespace fanin::cli
