// Gradients that are ready at different times, from two threads, summed as they come.

#include <fanin/aggregator.h>

#include <cstdio>
#include <thread>
#include <vector>

int main() {
  constexpr int kTerms = 8;
  fanin::Aggregator aggregator(kTerms, fanin::AggregationMethod::kExperimentalTree);
  const auto push_some = [&](int first) {
    for (int i = first; i < kTerms; i += 2) {
      const auto value = static_cast<float>(i);
      aggregator.push(fanin::Tensor::of<float>({value, 10 * value}, {2}));
    }
  };
  std::jthread other(push_some, 1);
  push_some(0);
  other.join();

  const fanin::Value value = *aggregator.finish();
  const auto sum = std::get<fanin::Tensor>(value).to_vector<float>();
  std::printf("%g %g\n", sum[0], sum[1]);  // 28 280
}
