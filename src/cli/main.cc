// The tool: parses, calls the library, prints. One file for each command.

#include <exception>
#include <span>

#include "cli/commands.h"
#include "cli/errors.h"
#include "fanin/error.h"

namespace fanin::cli {
namespace {

ExitCode run(int argc, char** argv) {
  CommandLine tool("fanin",
                   "Fanin aggregates gradients: sums, reductions across devices, all-reduce.");
  tool.root().footer(
      "Exit codes: 0 done, 1 the thing asked for failed, 2 bad input, 3 a deadline passed or a "
      "peer died.");
  ExitCode exit_code = ExitCode::kDone;
  add_sum(tool.root(), exit_code);
  add_compare(tool.root(), exit_code);
  add_conformance(tool.root(), exit_code);
  add_algorithms(tool.root(), exit_code);
  add_schedule(tool.root(), exit_code);
  add_run(tool.root(), exit_code);
  add_verify(tool.root(), exit_code);
  add_plan(tool.root(), exit_code);
  add_price(tool.root(), exit_code);
  add_doctor(tool.root(), exit_code);
  add_selftest(tool.root(), exit_code);
  add_trial(tool.root(), exit_code);
  add_launch(tool.root(), exit_code);
  add_train(tool.root(), exit_code);
  add_version(tool.root(), exit_code);
  tool.run(argc, argv);
  return exit_code;
}

}  // namespace
}  // namespace fanin::cli

int main(int argc, char** argv) {
  const bool json = fanin::cli::asks_for_json({argv, static_cast<std::size_t>(argc)});
  try {
    return static_cast<int>(fanin::cli::run(argc, argv));
  } catch (const fanin::Error& error) {
    return static_cast<int>(fanin::cli::report(error, json));
  } catch (const std::exception& error) {
    return static_cast<int>(fanin::cli::report(error, json));
  }
}
