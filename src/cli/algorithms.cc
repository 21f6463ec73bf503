#include "fanin/algorithms.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/algorithms/document.h"
#include "cli/commands.h"
#include "cli/cost_json.h"

namespace fanin::cli {
namespace {

struct AlgorithmsArguments {
  Topology topology = {.worker_count = 4, .devices_per_worker = 1};
  std::string docs_folder;
  bool as_json = false;
};

ScheduleCost cost_for(const Algorithm& algorithm, const Topology& topology) {
  return cost_of(build_schedule(algorithm.name, {.topology = topology}));
}

void print_for_people(const Topology& topology) {
  fmt::print("{:<19} {:<13} {:>6} {:>9} {:>6}  {}\n", "name", "in a spec", "rounds", "messages",
             "sent", "what it does");
  for (const Algorithm& algorithm : algorithms()) {
    const ScheduleCost cost = cost_for(algorithm, topology);
    fmt::print("{:<19} {:<13} {:>6} {:>9} {:>6.4g}  {}\n", algorithm.name, algorithm.spec_names,
               cost.round_count, cost.message_count, cost.share(cost.most_sent), algorithm.summary);
  }
  fmt::print(
      "\nAll-reduce with --workers {} --devices {}. Sent: how often the data the busiest place "
      "sends.\nTwo of them make one for two levels, as in direct/ring or direct//ring.\n",
      topology.worker_count, topology.devices_per_worker);
}

void print_json(const Topology& topology) {
  nlohmann::ordered_json json = {{"workers", topology.worker_count},
                                 {"devices", topology.devices_per_worker},
                                 {"algorithms", nlohmann::ordered_json::array()}};
  for (const Algorithm& algorithm : algorithms())
    json["algorithms"].push_back({{"name", algorithm.name},
                                  {"spec_names", algorithm.spec_names},
                                  {"summary", algorithm.summary},
                                  {"description", algorithm.description},
                                  {"paper", algorithm.paper},
                                  {"cost", cost_to_json(cost_for(algorithm, topology))}});
  fmt::print("{}\n", json.dump());
}

}  // namespace

void add_algorithms(Command tool, ExitCode& /*exit_code*/) {
  auto arguments = std::make_shared<AlgorithmsArguments>();
  Command command = tool.add_subcommand("algorithms", "List the algorithms, with what each costs");
  Option workers =
      command.add_option("--workers", arguments->topology.worker_count, "Number of workers");
  Option devices = command.add_option("--devices", arguments->topology.devices_per_worker,
                                      "Devices of each worker");
  workers.with_default();
  devices.with_default();
  Option json = command.add_flag("--json", arguments->as_json, "One object for scripts");
  command
      .add_option("--docs", arguments->docs_folder,
                  "Write algorithms.md and its pictures into this folder")
      .excludes(workers)
      .excludes(devices)
      .excludes(json);
  command.footer("Example: fanin algorithms --workers 8 --devices 4");
  command.callback([arguments] {
    check(arguments->topology);  // before the first line of a table is out
    if (!arguments->docs_folder.empty())
      write_document(arguments->docs_folder);
    else if (arguments->as_json)
      print_json(arguments->topology);
    else
      print_for_people(arguments->topology);
  });
}

}  // namespace fanin::cli
