// Hints of 50 MiB a pack, an all-reduce of all gradients inside of each replica, and an optimizer
// that applies the sums without aggregating again.

#include <fanin/all_reduce_cross_device_ops.h>
#include <fanin/optimizer.h>
#include <fanin/replica_context.h>

#include <array>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<fanin::Device> gpus = {fanin::parse_device("/gpu:0"),
                                           fanin::parse_device("/gpu:1")};
  std::array<std::vector<float>, 2> kernels = {std::vector<float>{1, 1},
                                               {1, 1}};  // of each replica
  std::array<std::vector<float>, 2> biases = {std::vector<float>{0}, {0}};

  fanin::run_replicas(fanin::NcclAllReduce(), gpus, [&](fanin::ReplicaContext& context) {
    const auto replica = static_cast<std::size_t>(context.replica_id());
    fanin::Optimizer optimizer({fanin::TensorView::over<float>(kernels[replica], {2}),
                                fanin::TensorView::over<float>(biases[replica], {1})},
                               fanin::SgdOptions{.learning_rate = 0.5});
    const auto own = static_cast<float>(replica + 1);
    const std::vector<fanin::Value> gradients = {fanin::Tensor::of<float>({own, 2 * own}, {2}),
                                                 fanin::Tensor::of<float>({own}, {1})};

    const fanin::CollectiveHints hints{.bytes_per_pack = 50 << 20};
    const auto sums = context.all_reduce(fanin::ReduceOp::kSum, gradients, hints);
    for (std::size_t i = 0; i < sums.size(); ++i) optimizer.apply(i, sums[i]);
  });
  for (std::size_t replica = 0; replica < gpus.size(); ++replica)
    std::printf("replica %zu: kernel %g %g, bias %g\n", replica, kernels[replica][0],
                kernels[replica][1], biases[replica][0]);
}
