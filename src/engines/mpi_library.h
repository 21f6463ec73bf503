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

/// The first line of what the MPI library that this process has loaded says of itself, if there is
/// one.
std::optional<std::string> describe_loaded_mpi();

/// "openmpi" or "mpich": what is asked for, as in MpiChoice, beside what is loaded. Throws
/// InvalidArgument (kBadOption) for an unknown name, or if what is loaded is another.
std::string_view choose_mpi(const std::string& asked, const std::optional<std::string>& loaded);

/// Loads a module, and so its MPI. Throws as choose_mpi() does, and Unavailable, which says what to
/// install.
const FaninMpi& load_mpi(const MpiChoice& choice);

}  // namespace fanin
