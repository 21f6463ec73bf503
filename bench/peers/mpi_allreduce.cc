// One rank of an MPI in ./bench/run allreduce and mpi, started by its mpirun: Open MPI, MPICH or
// Intel MPI, whichever it is compiled with.

#include <mpi.h>

#include <string>

#include "../run_server.h"
#include "packing.h"

namespace bench {
namespace {

std::string version() {
#if defined(OMPI_MAJOR_VERSION)
  return std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
         std::to_string(OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)  // MPICH's descendant has its macros too
  return I_MPI_VERSION;
#else
  return MPICH_VERSION;
#endif
}

void serve() {
  const Seat seat = take_seat();
  MPI_Init(nullptr, nullptr);
  const auto all_reduce = [](float* data, std::size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  };
  serve_rank(seat, version(),
             [&](const Request& request) { return make_peer_task(request, all_reduce); });
  MPI_Finalize();
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("mpi_allreduce", bench::serve); }
