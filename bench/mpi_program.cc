// One rank of Fanin in ./bench/run mpi: an MPI program, like that of MPI_Allreduce beside it, whose
// ranks join once it has initialised MPI.

#include <mpi.h>

#include <string>

#include "fanin/join.h"
#include "fanin_task.h"
#include "run_server.h"

namespace bench {
namespace {

void serve_group(const Seat& seat) {
  MPI_Comm world = MPI_COMM_WORLD;
  fanin::Group group = fanin::join({.engine = "mpi", .communicator = &world});
  serve_rank(seat, std::string(group.transport()),
             [&group](const Request& request) { return make_task(group, request); });
}

void serve() {
  const Seat seat = take_seat();
  MPI_Init(nullptr, nullptr);
  serve_group(seat);
  MPI_Finalize();
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_mpi_program", bench::serve); }
