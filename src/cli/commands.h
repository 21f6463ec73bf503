#pragma once

#include "cli/command.h"

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
void add_sum(Command tool, ExitCode& exit_code);
void add_compare(Command tool, ExitCode& exit_code);
void add_conformance(Command tool, ExitCode& exit_code);
void add_algorithms(Command tool, ExitCode& exit_code);
void add_schedule(Command tool, ExitCode& exit_code);
void add_run(Command tool, ExitCode& exit_code);
void add_verify(Command tool, ExitCode& exit_code);
void add_plan(Command tool, ExitCode& exit_code);
void add_price(Command tool, ExitCode& exit_code);
void add_doctor(Command tool, ExitCode& exit_code);
void add_selftest(Command tool, ExitCode& exit_code);
void add_trial(Command tool, ExitCode& exit_code);
void add_launch(Command tool, ExitCode& exit_code);
void add_train(Command tool, ExitCode& exit_code);
void add_version(Command tool, ExitCode& exit_code);

}  // namespace fanin::cli
