#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"

namespace fanin::cli {

void add_version(Command tool, ExitCode& /*exit_code*/) {
  Command command = tool.add_subcommand("version", "Print the version");
  const auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print an object, for scripts");
  command.callback([json] {
    if (*json)
      fmt::print("{}\n", nlohmann::json{{"version", FANIN_VERSION}}.dump());
    else
      fmt::print("fanin {}\n", FANIN_VERSION);
  });
}

}  // namespace fanin::cli
