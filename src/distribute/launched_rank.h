#pragma once

#include <optional>
#include <string>

namespace fanin {

/// What a launcher told this process.
struct LaunchedRank {
  int rank = 0;
  int size = 1;

  /// The name of a file at which the ranks of this job, and of no other on this host, can meet.
  /// Empty if the launcher gives too little for one.
  std::string meeting_name = {};

  /// Why these ranks cannot join by themselves, in a sentence: they are on several hosts. Empty if
  /// they can.
  std::string obstacle = {};
};

/// The MPI whose mpirun has started this process, as JoinOptions::engine calls it; empty if none.
std::string find_launching_mpi();

/// From FANIN_RANK and FANIN_WORLD_SIZE, else torchrun's variables, else Slurm's; none if there are
/// none, or if an mpirun stands between Slurm and this process. `has_rendezvous`: the ranks know
/// where to meet; without it Slurm's count only in a step of srun, because a batch script has them
/// too. Throws InvalidArgument (kBadOption) when one of two variables is missing or one is no
/// count.
std::optional<LaunchedRank> find_launched_rank(bool has_rendezvous);

}  // namespace fanin
