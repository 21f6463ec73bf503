// The tool: parses, calls the library, prints. One file for each command.

#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "fanin/error.h"

namespace {

using fanin::cli::ExitCode;

ExitCode exit_code_of(const fanin::Error& error) {
  switch (error.code()) {
    case fanin::ErrorCode::kInvalidArgument:
      return ExitCode::kBadInput;
    case fanin::ErrorCode::kDeadlineExceeded:
    case fanin::ErrorCode::kPeerFailure:
      return ExitCode::kDeadlineOrPeer;
    case fanin::ErrorCode::kUnavailable:
      return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

ExitCode run(int argc, char** argv) {
  CLI::App app{"Fanin aggregates gradients: sums, reductions across devices, all-reduce."};
  app.name("fanin");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 the thing asked for failed, 2 bad input, 3 a deadline passed or a "
      "peer died.");
  ExitCode exit_code = ExitCode::kDone;
  fanin::cli::add_schedule(app, exit_code);
  fanin::cli::add_verify(app, exit_code);
  fanin::cli::add_selftest(app, exit_code);
  fanin::cli::add_launch(app, exit_code);
  fanin::cli::add_version(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::kDone : ExitCode::kBadInput;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const fanin::Error& error) {
    fmt::print(stderr, "fanin: {}\n", error.what());
    return static_cast<int>(exit_code_of(error));
  } catch (const std::exception& error) {
    fmt::print(stderr, "fanin: {}\n", error.what());
    return static_cast<int>(ExitCode::kFailed);
  }
}
