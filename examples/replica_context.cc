// Hints of 50 MiB a pack, an all-reduce of all gradients inside of each replica, and the updates:
// what CollectiveHints is documented for.

#include <fanin/all_reduce_cross_device_ops.h>
#include <fanin/replica_context.h>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<fanin::Device> gpus = {fanin::parse_device("/gpu:0"),
                                           fanin::parse_device("/gpu:1")};
  std::vector<fanin::Variable> weights;
  weights.emplace_back(fanin::Tensor::of<float>({1, 1}, {2}), gpus, "kernel");
  weights.emplace_back(fanin::Tensor::of<float>({0}, {1}), gpus, "bias");

  fanin::run_replicas(fanin::NcclAllReduce(), gpus, [&](fanin::ReplicaContext& context) {
    const auto own = static_cast<float>(context.replica_id() + 1);
    const std::vector<fanin::Value> gradients = {fanin::Tensor::of<float>({own, 2 * own}, {2}),
                                                 fanin::Tensor::of<float>({own}, {1})};
    const fanin::CollectiveHints hints{.bytes_per_pack = 50 << 20};
    const auto sums = context.all_reduce(fanin::ReduceOp::kSum, gradients, hints);
    for (std::size_t i = 0; i < weights.size(); ++i)
      context.update(
          weights[i],
          [](const fanin::Tensor& value, const fanin::Tensor& gradient) {
            auto numbers = value.to_vector<float>();
            const auto slopes = gradient.to_vector<float>();
            for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] -= 0.5F * slopes[j];
            return fanin::Tensor::of<float>(std::span<const float>(numbers), value.shape());
          },
          std::get<fanin::Tensor>(sums[i]));
  });
  for (const fanin::Variable& weight : weights) {
    std::printf("%s:", weight.name().c_str());
    for (const float number : weight.value(gpus[1]).to_vector<float>()) std::printf(" %g", number);
    std::printf("\n");
  }
}
