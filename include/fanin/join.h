#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fanin/group.h"

namespace fanin {

/// A place of the caller's where the ranks leave each other notes, such as the store of a
/// framework. Only the thread that joins calls it: rank 0 sets one key, the others get it. What the
/// functions throw, join() throws. A second join needs keys of its own: put a prefix before them.
struct JoinStore {
  using Deadline = std::chrono::steady_clock::time_point;

  /// Keeps `bytes` under `key`, for all ranks to see.
  std::function<void(std::string_view key, std::string_view bytes)> set;

  /// The bytes under `key`. Waits until they are there, and throws when `deadline` has passed.
  std::function<std::string(std::string_view key, Deadline deadline)> get;
};

/// How ranks find each other.
struct JoinOptions {
  /// "file:PATH": a path on this host, the same for all ranks, in a folder that only the job's user
  /// may write. If PATH is a folder, the ranks meet at "fanin.socket" in it. Empty: a group of one.
  std::string rendezvous = {};
  int rank = 0;
  int world_size = 1;

  /// For joining, and the default of each call.
  std::chrono::duration<double> timeout = std::chrono::minutes(5);

  /// What every rank of the job knows and nobody else: each proves that it does, and never says it.
  /// Empty: the ranks have none, and trust whatever process of their user comes.
  std::string secret = {};

  /// If given, the ranks agree through it on where to meet, and `rendezvous` is not used.
  std::optional<JoinStore> store = std::nullopt;

  /// "openmpi" or "mpich": the ranks are those of an MPI job, and MPI carries what goes from host
  /// to host; rank, rendezvous and secret are not used, and a world size above 1 must be the job's
  /// if no communicator is given. "mpi": the library of these that the program has loaded. Its
  /// module is loaded when asked for. MPI is initialised if it is not, and then ended when the
  /// process exits with 0. "pmix": the ranks that a launcher has started which speaks PMIx; they
  /// are on one host, and rank 0 makes a secret unless there is one.
  std::string engine = {};

  /// The address of an MPI_Comm whose ranks join; null: all ranks of the job.
  const void* communicator = nullptr;

  /// Of an engine: whether ranks of one host share memory. If not, they talk as those of several
  /// hosts do, which is slower; for tests, and hosts that allow no shared memory.
  bool shares_memory = true;

  /// The folder of the modules; empty: beside the library or the program.
  std::string modules = {};

  /// From FANIN_RENDEZVOUS, FANIN_RANK, FANIN_WORLD_SIZE, FANIN_TIMEOUT_SECONDS, and FANIN_SECRET
  /// or FANIN_SECRET_FILE; rank, size and a place to meet also from what torchrun and Slurm set.
  /// Under mpirun the engine is its MPI, under others who speak PMIx that, unless FANIN_ENGINE
  /// names another or "none"; FANIN_MODULES is the folder of modules, and FANIN_SHARE_MEMORY=0 lets
  /// nobody share memory. With none of them, a group of one. docs/joining.md has the rules. Throws
  /// InvalidArgument (kBadOption) and names the variable when one is missing, does not fit the
  /// others, or is no number.
  static JoinOptions from_environment();
};

/// Joins the group that `options` describe. Returns when all ranks are there. Throws
/// InvalidArgument, DeadlineExceeded or Unavailable with a sentence on what is missing, and
/// PeerFailure when a rank that had come dies. Rank 0 warns Context::process() of strangers.
Group join(const JoinOptions& options);

}  // namespace fanin
