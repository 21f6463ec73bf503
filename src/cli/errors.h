#pragma once

#include <exception>
#include <span>

#include "cli/commands.h"
#include "fanin/error.h"

namespace fanin::cli {

/// Whether --json stands among the arguments of the tool itself; what follows "--" is another's.
bool asks_for_json(std::span<char* const> arguments);

/// Prints an error: a sentence to stderr, and with `json` also an object to stdout. Returns what
/// the process should.
ExitCode report(const Error& error, bool json);

/// The same for anything else: a fault of the tool, or no memory.
ExitCode report(const std::exception& error, bool json);

}  // namespace fanin::cli
