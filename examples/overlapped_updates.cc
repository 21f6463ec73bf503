// Gradients are handed over as a backward pass makes them. A pack travels when it is full, and a
// weight is updated as soon as its pack is there, while the backward pass goes on.
//
//     fanin launch -n 2 -- example_overlapped_updates

#include <fanin/join.h>
#include <fanin/optimizer.h>
#include <fanin/plan.h>

#include <cstdio>
#include <cstring>
#include <vector>

int main() {
  fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());

  // Two layers. Memory from the group needs no copies on the way.
  const std::vector<fanin::TensorInfo> layers = {{"layer 1", fanin::DType::kFloat32, {4}},
                                                 {"layer 2", fanin::DType::kFloat32, {2}}};
  std::vector<fanin::Buffer> memory;
  std::vector<fanin::TensorView> weights;
  std::vector<fanin::TensorView> gradients;
  for (const fanin::TensorInfo& layer : layers)
    for (std::vector<fanin::TensorView>* views : {&weights, &gradients}) {
      memory.push_back(group.allocate(layer.byte_count()));
      views->push_back({memory.back().bytes(), layer.dtype, layer.shape});
      std::memset(memory.back().bytes().data(), 0, layer.byte_count());
    }
  fanin::Optimizer optimizer(weights, fanin::SgdOptions{.learning_rate = 0.5});

  // The mean over all ranks, in packs of at most 8 bytes: each layer is one.
  fanin::Plan plan(fanin::plan_reduction({.op = fanin::ReduceOp::kMean,
                                          .topology = {.worker_count = group.size()},
                                          .tensors = layers,
                                          .packing = {.bytes_per_pack = 8},
                                          .choices = {{.algorithm = "ring"}}}),
                   group);

  for (int step = 0; step < 3; ++step) {
    fanin::Reduction sums = plan.start(gradients, {.step = step});
    for (std::size_t i = 0; i < layers.size(); ++i)
      sums.then(i, [&optimizer, i](const fanin::Value& sum) { optimizer.apply(i, sum); });
    for (std::size_t i = layers.size();
         i-- > 0;) {  // the backward pass: from the last to the first
      const std::vector<float> slopes(layers[i].shape.element_count(), -2.0F);
      std::memcpy(gradients[i].bytes.data(), slopes.data(), gradients[i].bytes.size());
      sums.push(i, fanin::Tensor::view(gradients[i].bytes, layers[i].dtype, layers[i].shape));
    }
    sums.finish();
  }
  float first = 0;
  std::memcpy(&first, weights[0].bytes.data(), sizeof first);
  if (group.rank() == 0)
    std::printf("%d ranks, %zu packs: the weights are %g\n", group.size(),
                plan.explain().packs.size(), static_cast<double>(first));
}
