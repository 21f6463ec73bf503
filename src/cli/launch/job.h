#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fanin::cli {

struct JobOptions {
  int rank_count = 1;
  std::vector<std::string> command;
  std::optional<double> timeout_seconds;
};

/// How one rank ended.
struct RankEnd {
  int exit_code = 0;  // for a signal 128 and its number, as in shells
  int signal = 0;     // 0: none
  double seconds = 0;
};

struct JobEnd {
  std::vector<RankEnd> ranks;
  std::optional<int> first_failure;  // the rank
  int ended_by_us = 0;               // ranks that were still running then
};

/// Starts the command as each rank, passes on what they print and the signals that come, and ends
/// all when one fails. Returns when none is left. Throws InvalidArgument when there is no such
/// program.
JobEnd run_job(const JobOptions& options);

}  // namespace fanin::cli
