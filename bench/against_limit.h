#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "limit.h"
#include "timing.h"

namespace bench {

/// Seconds of one call of Fanin, and of the best way to do the same by hand.
struct Times {
  double fanin;
  double limit;
  std::string way;
};

/// The two ways that look best, to be timed with care.
inline std::vector<Way> best_ways(const Sum& sum, double budget_seconds) {
  const TwoThreads second;
  std::vector<std::pair<double, Way>> timed;
  for (const Way& way : ways())
    timed.emplace_back(time_call(budget_seconds / 8, [&] { way.run(sum); }), way);
  std::ranges::sort(timed, {}, [](const auto& entry) { return entry.first; });
  return {timed[0].second, timed[1].second};
}

/// `call`, which does the same as `sum`, and the limit take turns of a few calls, so that both meet
/// the same neighbours.
template <typename Call>
Times time_in_turns(const Sum& sum, double budget_seconds, Call&& call) {
  constexpr int kTurns = 8;
  const std::vector<Way> candidates = best_ways(sum, budget_seconds / 4);
  std::vector<double> fanin_times;
  std::vector<std::vector<double>> way_times(candidates.size());
  const double slice = budget_seconds / kTurns / 4;
  for (int turn = 0; turn < kTurns; ++turn) {
    fanin_times.push_back(time_call(slice, call));
    const TwoThreads second;  // not while Fanin's threads want the cores
    for (std::size_t i = 0; i < candidates.size(); ++i)
      way_times[i].push_back(time_call(slice, [&] { candidates[i].run(sum); }));
  }
  const double first = median(way_times[0]);
  const double other = median(way_times[1]);
  return {median(fanin_times), std::min(first, other), candidates[first <= other ? 0 : 1].name};
}

}  // namespace bench
