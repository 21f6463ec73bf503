// Each rank keeps a part of five weights. Gradients become the mean in the part of each rank, every
// rank updates its part, and all get all parts. Run it with
//   ./fanin launch -n 2 -- build/release/bin/example_collectives
// Alone it is a group of one.

#include <fanin/error.h>
#include <fanin/join.h>

#include <cstdio>

int main() {
  try {
    fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
    constexpr std::int64_t kWeights = 5;
    const auto size = static_cast<std::size_t>(group.size());
    std::vector<std::int64_t> extents(size, kWeights / group.size());
    for (std::size_t rank = 0; rank < kWeights % size; ++rank) ++extents[rank];

    const float scale = static_cast<float>(group.rank() + 1);
    const auto gradient =
        fanin::Tensor::of<float>({0, 1 * scale, 2 * scale, 3 * scale, 4 * scale}, {kWeights});
    const fanin::Tensor mean =
        group.reduce_scatter(gradient, {.op = fanin::ReduceOp::kMean, .extents = extents});

    std::vector<float> mine = mean.to_vector<float>();
    for (float& number : mine) number = 1 - 0.5F * number;  // weights begin at 1
    const fanin::Tensor part = fanin::Tensor::of(std::span<const float>(mine), mean.shape());
    const auto weights = group.all_gather(part, {.extents = extents}).to_vector<float>();
    if (group.rank() == 0)
      std::printf("%d ranks: %g %g %g %g %g\n", group.size(), weights[0], weights[1], weights[2],
                  weights[3], weights[4]);
    return 0;
  } catch (const fanin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
