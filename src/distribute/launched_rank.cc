#include "distribute/launched_rank.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "distribute/environment.h"
#include "transports/secret_proof.h"

namespace fanin {
namespace {

constexpr std::string_view kNeedsMpi =
    "and between hosts MPI carries the messages: start the ranks by mpirun, or set FANIN_ENGINE to "
    "openmpi or mpich if this launcher starts ranks of that MPI (docs/mpi.md)";

bool is_any_set(const char* rank, const char* size) { return is_set(rank) || is_set(size); }

LaunchedRank read_pair(const char* rank_name, const char* size_name) {
  for (const auto& [found, missing] :
       {std::pair(rank_name, size_name), std::pair(size_name, rank_name)})
    require(!is_set(found) || is_set(missing), ErrorKind::kBadOption,
            "{} is set but {} is not; set both or none, or start the ranks by \"fanin launch\"",
            found, missing);
  LaunchedRank launched{.rank = read_count(rank_name), .size = read_count(size_name)};
  require(launched.rank < launched.size, ErrorKind::kBadOption,
          "{} is {} but {} is {}; ranks count from 0", rank_name, launched.rank, size_name,
          launched.size);
  return launched;
}

/// Job names may be long and hold any letters; the name of a socket's file may not.
std::string name_meeting(std::string_view launcher, std::string_view job, std::string_view part) {
  const std::string text = fmt::format("{}\n{}", job, part);
  const Digest digest = hmac_sha256(launcher, std::as_bytes(std::span(text)));
  return fmt::format("fanin-{}-{}", launcher, to_hex(std::span(digest).first(8)));
}

LaunchedRank read_torchrun() {
  LaunchedRank launched = read_pair("RANK", "WORLD_SIZE");
  // Without it nobody knows how many hosts there are.
  if (!is_set("LOCAL_WORLD_SIZE") || launched.size == 1) return launched;
  const int local_size = read_count("LOCAL_WORLD_SIZE");
  if (local_size != launched.size)
    launched.obstacle = fmt::format(
        "WORLD_SIZE is {} but LOCAL_WORLD_SIZE is {}: these ranks are on several "
        "hosts, {}",
        launched.size, local_size, kNeedsMpi);
  if (is_set("TORCHELASTIC_RUN_ID") && is_set("MASTER_PORT"))
    launched.meeting_name = name_meeting("torchrun", read_variable("TORCHELASTIC_RUN_ID"),
                                         read_variable("MASTER_PORT"));
  return launched;
}

LaunchedRank read_slurm() {
  LaunchedRank launched = read_pair("SLURM_PROCID", "SLURM_NTASKS");
  if (launched.size == 1) return launched;
  const int host_count = is_set("SLURM_NNODES") ? read_count("SLURM_NNODES") : 1;
  if (host_count > 1)
    launched.obstacle = fmt::format("SLURM_NNODES is {}: these {} ranks are on several hosts, {}",
                                    host_count, launched.size, kNeedsMpi);
  if (is_set("SLURM_JOB_ID") && is_set("SLURM_STEP_ID"))
    launched.meeting_name =
        name_meeting("slurm", read_variable("SLURM_JOB_ID"), read_variable("SLURM_STEP_ID"));
  return launched;
}

}  // namespace

std::string find_launching_mpi() {
  if (is_set("OMPI_COMM_WORLD_RANK")) return "openmpi";
  // Others have PMI's variables too; these two only MPICH's mpirun.
  if (is_set("PMI_RANK") && is_set("MPI_LOCALNRANKS")) return "mpich";
  return "";
}

std::optional<LaunchedRank> find_launched_rank(bool has_rendezvous) {
  if (is_any_set("FANIN_RANK", "FANIN_WORLD_SIZE"))
    return read_pair("FANIN_RANK", "FANIN_WORLD_SIZE");
  if (is_any_set("RANK", "WORLD_SIZE")) return read_torchrun();
  if (!find_launching_mpi().empty()) return std::nullopt;
  if (is_any_set("SLURM_PROCID", "SLURM_NTASKS") && (has_rendezvous || is_set("SLURM_STEP_ID")))
    return read_slurm();
  return std::nullopt;
}

}  // namespace fanin
