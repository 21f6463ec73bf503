#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/commands.h"
#include "cli/doctor/findings.h"

namespace fanin::cli {
namespace {

std::vector<Finding> examine_all() {
  const char* const search_path = std::getenv("PATH");
  std::vector<Finding> all;
  for (std::vector<Finding> some :
       {examine_machine(), examine_distances(), examine_permissions(),
        examine_programs(search_path == nullptr ? "/usr/bin:/bin" : search_path)})
    std::ranges::move(some, std::back_inserter(all));
  return all;
}

void print_for_people(const std::vector<Finding>& findings, bool is_well) {
  for (const Finding& each : findings)
    fmt::print("{:<18} {:<10} {}{}{}\n", each.name, name(each.health), each.value,
               each.advice.empty() ? "" : "; ", each.advice);
  fmt::print("\n{}\n", is_well ? "Everything that Fanin needs is here."
                               : "Something that Fanin needs is not here, see above.");
}

void print_for_scripts(const std::vector<Finding>& findings, bool is_well) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& each : findings)
    list.push_back({{"name", each.name},
                    {"value", each.value},
                    {"health", name(each.health)},
                    {"needed", each.is_needed},
                    {"advice", each.advice}});
  const nlohmann::ordered_json json = {{"well", is_well}, {"findings", list}};
  // A folder in PATH need not be UTF-8.
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void add_doctor(Command tool, ExitCode& exit_code) {
  Command command = tool.add_subcommand(
      "doctor", "Look at this machine: what is there, what is missing, what is forbidden");
  const auto as_json = std::make_shared<bool>(false);
  command.add_flag("--json", *as_json, "One JSON object for scripts");
  command.footer(
      "Exit code 0 if everything that Fanin needs is there, 1 otherwise.\nExample: fanin doctor");
  command.callback([as_json, &exit_code] {
    const std::vector<Finding> findings = examine_all();
    const bool is_well = std::ranges::all_of(findings, [](const Finding& each) {
      return each.health == Health::kOk || !each.is_needed;
    });
    if (!is_well) exit_code = ExitCode::kFailed;
    if (*as_json)
      print_for_scripts(findings, is_well);
    else
      print_for_people(findings, is_well);
  });
}

}  // namespace fanin::cli
