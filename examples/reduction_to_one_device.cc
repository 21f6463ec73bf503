// ReductionToOneDevice: everything is copied to one device, summed there by a function of ours, and
// copied to where it is wanted.

#include <fanin/add_n.h>
#include <fanin/reduction_to_one_device.h>

#include <cstdio>
#include <vector>

int main() {
  const fanin::ReductionToOneDevice ops(
      "/cpu:0", [](std::span<const fanin::Tensor> terms) { return fanin::add_n(terms); });
  const std::vector<fanin::Device> gpus = {fanin::parse_device("/gpu:0"),
                                           fanin::parse_device("/gpu:1")};
  const fanin::PerReplica loss(gpus, std::vector{fanin::Tensor::of<float>({1, 2}, {2}),
                                                 fanin::Tensor::of<float>({3, 4}, {2})});

  const fanin::Result sum = ops.reduce(fanin::ReduceOp::kSum, loss, loss);
  const auto numbers = std::get<fanin::Tensor>(value_on(sum, gpus[1])).to_vector<float>();
  std::printf("on both GPUs: %g %g\n", numbers[0], numbers[1]);

  const fanin::Result mean = ops.reduce(fanin::ReduceOp::kMean, loss, "/cpu:0");
  const auto& value = std::get<fanin::Tensor>(std::get<fanin::Value>(mean));
  std::printf("on %s: %g %g\n", to_string(value.device()).c_str(), value.to_vector<float>()[0],
              value.to_vector<float>()[1]);
}
