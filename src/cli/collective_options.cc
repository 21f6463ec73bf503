#include "cli/collective_options.h"

#include <fmt/core.h>

#include "schedule/goal.h"

namespace fanin::cli {

Schedule CollectiveArguments::build() const {
  return build_schedule(
      algorithm,
      {.topology = topology, .goal = parse_goal(goal), .root = root, .shard_count = shard_count});
}

Option add_collective_options(Command command, CollectiveArguments& arguments,
                              const std::string& algorithm_help) {
  Option algorithm =
      command.add_option("algorithm", arguments.algorithm, algorithm_help).required();
  command.add_option("--workers", arguments.topology.worker_count, "Number of workers")
      .with_default();
  command.add_option("--devices", arguments.topology.devices_per_worker, "Devices of each worker")
      .with_default();
  command.add_option("--goal", arguments.goal, list_goals()).with_default();
  command.add_option("--root", arguments.root, "Root of goals which have one (rank 0)");
  command.add_option("--shards", arguments.shard_count, "Cut the data into this many")
      .with_default();
  return algorithm;
}

std::string list_algorithms() {
  std::string list = "Algorithms, with their names in an all_reduce_spec:\n";
  for (const Algorithm& algorithm : algorithms())
    list += fmt::format("  {:<19} {:<13} {}\n", algorithm.name, algorithm.spec_names,
                        algorithm.summary);
  list += fmt::format("  {:<33} {}\n", "a/b", "within each worker by a, across workers by b");
  return list + fmt::format("  {:<33} {}\n", "a//b", "the same, with every device crossing");
}

}  // namespace fanin::cli
