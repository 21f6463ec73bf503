#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "engines/mpi_table.h"

namespace fanin {

/// Which MPI, and where its module is.
struct MpiChoice {
  /// "openmpi", "mpich", or "mpi": the one that this process has loaded.
  std::string library = "mpi";

  /// The folder of the modules; empty: beside the library or the program.
  std::filesystem::path modules = {};
};

/// The MPI library that this process has loaded, "openmpi" or "mpich", if it is one of these.
std::optional<std::string_view> find_loaded_mpi();

/// Loads a module, and so its MPI. Throws InvalidArgument (kBadOption) for an unknown name, and
/// Unavailable, which says what to install.
const FaninMpi& load_mpi(const MpiChoice& choice);

}  // namespace fanin
