// An MPI program whose group lives longer than MPI: as a variable of main() does.

#include <fanin/error.h>
#include <fanin/join.h>
#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

void sum(fanin::Group& group, const char* when) {
  std::vector<float> values(1000, 1.0F);
  const fanin::Shape shape{1000};
  const auto input = fanin::Tensor::view(std::span<const float>(values), shape);
  try {
    group.all_reduce(input, fanin::TensorView::over(std::span(values), shape));
    std::printf("%s: %g\n", when, values.front());
  } catch (const fanin::Error& error) {
    std::printf("%s: %s\n", when, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm job = MPI_COMM_WORLD;
  fanin::JoinOptions options = fanin::JoinOptions::from_environment();  // FANIN_SHARE_MEMORY
  options.engine = "mpi";
  options.communicator = &job;
  fanin::Group group = fanin::join(options);
  sum(group, "before");
  MPI_Finalize();
  sum(group, "after");
}
