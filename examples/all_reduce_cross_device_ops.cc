// HierarchicalCopyAllReduce and NcclAllReduce: all-reduce among the devices of one machine, here
// five of them, in packs.

#include <fanin/all_reduce_cross_device_ops.h>

#include <cstdio>
#include <vector>

int main() {
  std::vector<fanin::Device> gpus;
  std::vector<fanin::Tensor> terms;
  for (int i = 0; i < 5; ++i) {
    gpus.push_back({.type = "GPU", .index = i});
    terms.push_back(fanin::Tensor::of<double>({1.0 * i, 10.0 * i, 100.0 * i}, {3}));
  }
  const fanin::PerReplica gradient(gpus, terms);

  const auto show = [&](const char* name, const fanin::CrossDeviceOps& ops) {
    const fanin::Result sum = ops.reduce(fanin::ReduceOp::kSum, gradient, gradient);
    const auto numbers = std::get<fanin::Tensor>(value_on(sum, gpus[4])).to_vector<double>();
    std::printf("%s: %g %g %g\n", name, numbers[0], numbers[1], numbers[2]);
  };
  show("HierarchicalCopyAllReduce", fanin::HierarchicalCopyAllReduce(/*num_packs=*/2));
  show("NcclAllReduce", fanin::NcclAllReduce());
}
