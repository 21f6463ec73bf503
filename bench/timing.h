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

/// The median seconds of one call, over samples of at least 50 us for about `budget_seconds`.
template <typename Call>
double time_call(double budget_seconds, Call&& call) {
  const auto time_calls = [&](int calls) {
    const double begin = now_seconds();
    for (int i = 0; i < calls; ++i) call();
    return now_seconds() - begin;
  };
  // First calls are slow, and any may be interrupted: one alone would make samples too short.
  const auto are_too_short = [&](int calls) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const double seconds = time_calls(calls);
      if (seconds < 50e-6) return true;
      if (seconds > 2e-3) return false;
    }
    return false;
  };
  int calls = 1;
  while (are_too_short(calls)) calls *= 2;
  std::vector<double> samples;
  const double end = now_seconds() + budget_seconds;
  do samples.push_back(time_calls(calls) / calls);
  while (now_seconds() < end);
  return median(std::move(samples));
}

}  // namespace bench
