#include <fmt/core.h>

#include "cli/commands.h"

namespace fanin::cli {

void add_version(CLI::App& app, ExitCode& /*exit_code*/) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->callback([] { fmt::print("fanin {}\n", FANIN_VERSION); });
}

}  // namespace fanin::cli
