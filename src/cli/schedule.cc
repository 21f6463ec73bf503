#include <fmt/core.h>

#include <memory>
#include <string>

#include "cli/collective_options.h"
#include "cli/commands.h"
#include "cli/cost_json.h"

namespace fanin::cli {
namespace {

struct ScheduleArguments {
  CollectiveArguments collective;
  bool as_text = false;
  bool as_json = false;
  bool as_svg = false;
};

std::string json_with_cost(const Schedule& schedule) {
  const ScheduleCost cost = cost_of(schedule);
  auto json = nlohmann::ordered_json::parse(to_json(schedule));
  json["cost"] = cost_to_json(cost);
  json["cost"]["links"] = links_to_json(cost);
  return json.dump();
}

}  // namespace

void add_schedule(Command tool, ExitCode& /*exit_code*/) {
  auto arguments = std::make_shared<ScheduleArguments>();
  Command command = tool.add_subcommand(
      "schedule", "Print an algorithm's schedule: who sums what, round by round");
  add_collective_options(command, arguments->collective, "Name of the algorithm");
  Option text = command.add_flag("--text", arguments->as_text, "As text (the default)");
  Option json = command.add_flag("--json", arguments->as_json, "As one JSON object, with its cost");
  json.excludes(text);
  command.add_flag("--svg", arguments->as_svg, "As a picture").excludes(text).excludes(json);
  command.footer(list_algorithms() + "\nExample: fanin schedule direct --workers 3");
  command.callback([arguments] {
    const Schedule schedule = arguments->collective.build();
    if (arguments->as_json)
      fmt::print("{}\n", json_with_cost(schedule));
    else
      fmt::print("{}", arguments->as_svg ? to_svg(schedule) : to_text(schedule));
  });
}

}  // namespace fanin::cli
