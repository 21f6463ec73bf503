#pragma once

#include "cli/command.h"
#include "fanin/algorithms.h"

namespace fanin::cli {

/// The options of every command that builds a schedule by name.
struct CollectiveArguments {
  std::string algorithm;
  Topology topology;
  std::string goal = "all_reduce";
  std::optional<int> root;
  int shard_count = 1;

  /// Throws InvalidArgument as build_schedule() does.
  Schedule build() const;
};

/// `algorithm_help` describes the positional argument, which is returned; it is required unless the
/// caller says otherwise.
Option add_collective_options(Command command, CollectiveArguments& arguments,
                              const std::string& algorithm_help);

/// The table of algorithms, for the end of a --help.
std::string list_algorithms();

}  // namespace fanin::cli
