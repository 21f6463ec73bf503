#pragma once

#include <CLI/CLI.hpp>

namespace fanin::cli {

/// What the process returns, for scripts.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,          // the thing asked for was done, and the answer is no
  kBadInput = 2,        // the command, a file or an argument is wrong
  kDeadlineOrPeer = 3,  // somebody did not come, or died
};

/// Each adds one command to the tool. When the command is chosen, its callback does the work and
/// sets `exit_code`; errors are thrown, and main() turns them into a sentence and a code.
void add_sum(CLI::App& app, ExitCode& exit_code);
void add_compare(CLI::App& app, ExitCode& exit_code);
void add_conformance(CLI::App& app, ExitCode& exit_code);
void add_algorithms(CLI::App& app, ExitCode& exit_code);
void add_schedule(CLI::App& app, ExitCode& exit_code);
void add_run(CLI::App& app, ExitCode& exit_code);
void add_verify(CLI::App& app, ExitCode& exit_code);
void add_price(CLI::App& app, ExitCode& exit_code);
void add_doctor(CLI::App& app, ExitCode& exit_code);
void add_selftest(CLI::App& app, ExitCode& exit_code);
void add_launch(CLI::App& app, ExitCode& exit_code);
void add_version(CLI::App& app, ExitCode& exit_code);

}  // namespace fanin::cli
