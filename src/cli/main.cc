// The tool: parses, calls the library, prints. One file for each command.

#include <exception>
#include <span>

#include "cli/commands.h"
#include "cli/errors.h"
#include "fanin/error.h"

namespace {

using fanin::cli::ExitCode;

ExitCode run(int argc, char** argv, bool json) {
  CLI::App app{"Fanin aggregates gradients: sums, reductions across devices, all-reduce."};
  app.name("fanin");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the thing asked for failed, 2 bad input, 3 a deadline passed or a "
      "peer died.");
  ExitCode exit_code = ExitCode::kDone;
  fanin::cli::add_sum(app, exit_code);
  fanin::cli::add_compare(app, exit_code);
  fanin::cli::add_conformance(app, exit_code);
  fanin::cli::add_algorithms(app, exit_code);
  fanin::cli::add_schedule(app, exit_code);
  fanin::cli::add_run(app, exit_code);
  fanin::cli::add_verify(app, exit_code);
  fanin::cli::add_price(app, exit_code);
  fanin::cli::add_doctor(app, exit_code);
  fanin::cli::add_selftest(app, exit_code);
  fanin::cli::add_launch(app, exit_code);
  fanin::cli::add_version(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return fanin::cli::report(app, error, json);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = fanin::cli::asks_for_json({argv, static_cast<std::size_t>(argc)});
  try {
    return static_cast<int>(run(argc, argv, json));
  } catch (const fanin::Error& error) {
    return static_cast<int>(fanin::cli::report(error, json));
  } catch (const std::exception& error) {
    return static_cast<int>(fanin::cli::report(error, json));
  }
}
