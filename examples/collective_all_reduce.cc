// What a user of TensorFlow's CollectiveAllReduce would write: each worker is a process with a
// replica of its own, and gets the mean of the gradients of all. Run it with
//   ./fanin launch -n 2 -- build/release/bin/example_collective_all_reduce
// Alone it is one worker.

#include <fanin/collective_all_reduce.h>
#include <fanin/error.h>
#include <fanin/join.h>

#include <cstdio>

int main() {
  try {
    fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
    const fanin::Device device = fanin::parse_device("/cpu:0");
    const fanin::CollectiveAllReduce ops(group, {device},
                                         {.bytes_per_pack = 1 << 20, .timeout_seconds = 60});

    const auto mine = static_cast<float>(group.rank() + 1);
    const fanin::PerReplica kernel({fanin::Tensor::of({mine, 2 * mine}, {2}, device)});
    const fanin::PerReplica bias({fanin::Tensor::of({10 * mine}, {1}, device)});
    const auto means = ops.batch_reduce(
        fanin::ReduceOp::kMean, std::vector<fanin::ReducePair>{{kernel, device}, {bias, device}});
    if (group.rank() > 0) return 0;
    const auto first = std::get<fanin::Tensor>(value_on(means[0], device)).to_vector<float>();
    const auto second = std::get<fanin::Tensor>(value_on(means[1], device)).to_vector<float>();
    std::printf("%d workers: kernel %g %g, bias %g\n", group.size(), first[0], first[1], second[0]);
    return 0;
  } catch (const fanin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
