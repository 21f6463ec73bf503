// An MPI program whose all-reduce is Fanin's: the ranks of a communicator join, MPI stays as it is.
// Run it with
//   mpirun -n 4 build/dev/bin/example_mpi_all_reduce

#include <fanin/error.h>
#include <fanin/join.h>
#include <mpi.h>

#include <cstdio>
#include <vector>

void train(MPI_Comm workers) {
  fanin::Group group = fanin::join({.engine = "mpi", .communicator = &workers});

  std::vector<float> gradient(1000, static_cast<float>(group.rank() + 1));
  const fanin::Shape shape{1000};
  const auto input = fanin::Tensor::view(std::span<const float>(gradient), shape);
  // Instead of MPI_Allreduce(MPI_IN_PLACE, gradient.data(), 1000, MPI_FLOAT, MPI_SUM, workers):
  group.all_reduce(input, fanin::TensorView::over(std::span(gradient), shape));

  if (group.rank() == 0) std::printf("%d ranks: %g\n", group.size(), gradient.front());
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    train(MPI_COMM_WORLD);
  } catch (const fanin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return status;
}
