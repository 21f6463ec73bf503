// One rank of Open MPI in ./bench/run allreduce, started by mpirun.

#include <mpi.h>

#include <string>

#include "../run_server.h"
#include "packing.h"

namespace bench {
namespace {

void serve() {
  const Seat seat = take_seat("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  MPI_Init(nullptr, nullptr);
  const auto all_reduce = [](float* data, std::size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  };
  const std::string version = std::to_string(OMPI_MAJOR_VERSION) + "." +
                              std::to_string(OMPI_MINOR_VERSION) + "." +
                              std::to_string(OMPI_RELEASE_VERSION);
  serve_rank(seat, version,
             [&](const Request& request) { return make_peer_task(request, all_reduce); });
  MPI_Finalize();
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("openmpi_allreduce", bench::serve); }
