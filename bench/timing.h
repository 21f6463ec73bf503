#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// The median seconds of one call, over samples of at least 50 us for about `budget_seconds`. The
/// first call warms up and tells how many make a sample.
template <typename Call>
double time_call(double budget_seconds, Call&& call) {
  const double begin = now_seconds();
  call();
  const double once = std::max(now_seconds() - begin, 1e-9);
  const int calls = std::max(1, static_cast<int>(50e-6 / once));
  std::vector<double> samples;
  const double end = now_seconds() + budget_seconds;
  do {
    const double start = now_seconds();
    for (int i = 0; i < calls; ++i) call();
    samples.push_back((now_seconds() - start) / calls);
  } while (now_seconds() < end);
  return median(std::move(samples));
}

}  // namespace bench
