#pragma once

#include <chrono>
#include <memory>

#include "engines/engine.h"
#include "engines/mpi_library.h"

namespace fanin {

/// The ranks of an MPI communicator: a call for all of them. `communicator` is the address of an
/// MPI_Comm; null means all ranks of the job. MPI is initialised if nobody has done so, and then
/// ended when the process exits. Throws as load_mpi(), DeadlineExceeded if not all ranks have come
/// after `timeout`, and Unavailable if MPI fails.
std::unique_ptr<Engine> open_mpi(const MpiChoice& choice, const void* communicator,
                                 std::chrono::duration<double> timeout);

}  // namespace fanin
