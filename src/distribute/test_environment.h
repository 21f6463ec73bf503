#pragma once

// For tests: variables that from_environment() reads.

#include <cstdlib>
#include <map>
#include <string>

namespace fanin::test {

using Variables = std::map<std::string, std::string>;

/// The environment with these variables and no other that from_environment() reads.
class Environment {
 public:
  explicit Environment(const Variables& variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() { clear(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void clear() {
    for (const char* name : {"FANIN_RENDEZVOUS",
                             "FANIN_RANK",
                             "FANIN_WORLD_SIZE",
                             "FANIN_TIMEOUT_SECONDS",
                             "FANIN_SECRET",
                             "FANIN_SECRET_FILE",
                             "RANK",
                             "WORLD_SIZE",
                             "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE",
                             "TORCHELASTIC_RUN_ID",
                             "MASTER_PORT",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_NNODES",
                             "SLURM_JOB_ID",
                             "SLURM_STEP_ID",
                             "XDG_RUNTIME_DIR",
                             "FANIN_ENGINE",
                             "FANIN_MODULES",
                             "FANIN_SHARE_MEMORY",
                             "OMPI_COMM_WORLD_RANK",
                             "PMI_RANK",
                             "MPI_LOCALNRANKS",
                             "PMIX_RANK",
                             "PMIX_NAMESPACE"})
      ::unsetenv(name);
  }
};

}  // namespace fanin::test
