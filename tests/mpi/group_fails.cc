// An MPI job that goes wrong: ranks that differ, one that is late, and, with an argument, one that
// is killed. All but the last leave a group that works.

#include <fanin/error.h>
#include <fanin/join.h>
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

/// The first element of the sum, or what went wrong.
std::string sum(fanin::Group& group, std::size_t count, std::chrono::duration<double> timeout) {
  std::vector<float> values(count, 1.0F);
  const fanin::Shape shape{static_cast<std::int64_t>(count)};
  const auto input = fanin::Tensor::view(std::span<const float>(values), shape);
  try {
    group.all_reduce(input, fanin::TensorView::over(std::span(values), shape),
                     {.timeout = timeout});
    return std::to_string(static_cast<int>(values.front()));
  } catch (const fanin::Error& error) {
    return error.what();
  }
}

void say(const fanin::Group& group, const char* what, const std::string& outcome) {
  std::printf("%s, rank %d: %s\n", what, group.rank(), outcome.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm job = MPI_COMM_WORLD;
  fanin::JoinOptions options = fanin::JoinOptions::from_environment();  // FANIN_SHARE_MEMORY
  options.engine = "mpi";
  options.communicator = &job;
  {
    fanin::Group group = fanin::join(options);
    const bool is_last = group.rank() == group.size() - 1;
    if (argc > 1) {
      if (is_last) std::raise(SIGKILL);
      say(group, "without it", sum(group, 1000, 50s));
    }
    say(group, "differs", sum(group, is_last ? 1001 : 1000, 30s));
    say(group, "again", sum(group, 1000, 30s));
    if (is_last)
      std::this_thread::sleep_for(1500ms);
    else
      say(group, "late", sum(group, 1000, 300ms));
    say(group, "after", sum(group, 100'000, 30s));
  }
  MPI_Finalize();
}
