// An MPI job whose last rank initialises MPI but does not join: the others say so at the deadline.

#include <fanin/error.h>
#include <fanin/join.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  using std::chrono_literals::operator""s;
  MPI_Init(&argc, &argv);
  MPI_Comm job = MPI_COMM_WORLD;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(job, &rank);
  MPI_Comm_size(job, &size);
  char word = 0;
  if (rank == size - 1) {
    for (int peer = 0; peer < rank; ++peer)
      MPI_Recv(&word, 1, MPI_CHAR, peer, 0, job, MPI_STATUS_IGNORE);
    // The others wait for it in a barrier that no MPI can end.
    MPI_Abort(job, 1);
  }
  try {
    fanin::join({.timeout = 1s, .engine = "mpi", .communicator = &job});
  } catch (const fanin::DeadlineExceeded& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
  }
  MPI_Send(&word, 1, MPI_CHAR, size - 1, 0, job);
  MPI_Recv(&word, 1, MPI_CHAR, size - 1, 0, job, MPI_STATUS_IGNORE);
}
