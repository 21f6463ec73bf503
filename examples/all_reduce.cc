// Each rank gives (rank + 1) times 1 2 3; every rank gets the sum, and rank 0 prints it. Run it
// with
//   ./fanin launch -n 2 -- build/release/bin/example_all_reduce
// Alone it is a group of one.

#include <fanin/error.h>
#include <fanin/join.h>

#include <cstdio>

int main() {
  try {
    fanin::Group group = fanin::join(fanin::JoinOptions::from_environment());
    const float scale = static_cast<float>(group.rank() + 1);
    const auto gradient = fanin::Tensor::of<float>({1 * scale, 2 * scale, 3 * scale}, {3});
    const auto sum = group.all_reduce(gradient).to_vector<float>();
    if (group.rank() == 0)
      std::printf("%d ranks: %g %g %g\n", group.size(), sum[0], sum[1], sum[2]);
    return 0;
  } catch (const fanin::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
