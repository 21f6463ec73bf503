#pragma once

#include <chrono>
#include <string>

#include "fanin/group.h"

namespace fanin {

/// How ranks find each other.
struct JoinOptions {
  /// "file:PATH": a path on this host, the same for all ranks, in a folder that only the job's user
  /// may write. Empty: a group of one.
  std::string rendezvous = {};
  int rank = 0;
  int world_size = 1;

  /// For joining, and the default of each call.
  std::chrono::duration<double> timeout = std::chrono::minutes(5);

  /// From FANIN_RENDEZVOUS, FANIN_RANK, FANIN_WORLD_SIZE and FANIN_TIMEOUT_SECONDS; without the
  /// first, a group of one. Throws InvalidArgument (kBadOption) and names the variable when one is
  /// missing or is no number.
  static JoinOptions from_environment();
};

/// Joins the group that `options` describe. Returns when all ranks are there. Throws
/// InvalidArgument, DeadlineExceeded or Unavailable with a sentence on what is missing.
Group join(const JoinOptions& options);

}  // namespace fanin
