#include "cli/compare/recommend_training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/units.h"

namespace fanin::cli {
namespace {

using Measured = const TrainingMeasurement*;

// Less than this share of another's memory is worth to be said.
constexpr double kMuchLess = 0.9;

// Medians that differ by more say that the rounds were disturbed, even if these overlap.
constexpr double kClose = 0.1;

double median_of(Measured each) { return seconds_of_step(each->median()); }

/// The rounds of the two overlap: who was faster may be chance.
bool is_as_fast(const TrainingMeasurement& each, const TrainingMeasurement& fastest) {
  return seconds_of_step(each.rounds.front()) <= seconds_of_step(fastest.rounds.back());
}

bool is_usual(const TrainingMeasurement& each) {
  const training::TrainOptions usual;
  return each.way.method == usual.method && each.way.spec == usual.spec;
}

/// Of ways that are as fast, the one to take.
Measured choose(const std::vector<Measured>& tied, Measured fastest) {
  std::vector<Measured> close;
  std::ranges::copy_if(tied, std::back_inserter(close), [&](Measured each) {
    return median_of(each) <= (1 + kClose) * median_of(fastest);
  });
  const Measured leanest = *std::ranges::min_element(close, {}, &TrainingMeasurement::peak_bytes);
  const auto bytes = [](Measured each) { return static_cast<double>(each->peak_bytes); };
  if (bytes(leanest) < kMuchLess * bytes(fastest)) return leanest;
  const auto usual = std::ranges::find_if(close, [](Measured each) { return is_usual(*each); });
  return usual == close.end() ? fastest : *usual;
}

std::string choice_text(Measured chosen, Measured fastest) {
  if (chosen == fastest) return "; this one was the fastest";
  if (is_usual(*chosen)) return "; this one is taken unless told otherwise";
  return fmt::format("; this one holds the least, {}, where {} holds {}",
                     bytes_text(chosen->peak_bytes), fastest->way.label,
                     bytes_text(fastest->peak_bytes));
}

/// Why ways that differ in their spec are equally fast, where that is known.
std::string reason_text(const std::vector<Measured>& all) {
  const std::string& transport = all.front()->report.transport;
  const bool is_one_host = transport == "in-process" || transport == "shared-memory";
  const bool have_one_spec = std::ranges::all_of(
      all, [&](Measured each) { return each->way.spec == all.front()->way.spec; });
  if (!is_one_host || have_one_spec) return "";
  return ": on one host the name of an algorithm decides only the order of the sum";
}

std::string slowest_text(Measured slowest, Measured fastest) {
  return fmt::format("the slowest, {}, takes {:.2f} times as long", slowest->way.label,
                     median_of(slowest) / median_of(fastest));
}

}  // namespace

TrainingRecommendation recommend(const std::vector<TrainingMeasurement>& measurements) {
  std::vector<Measured> all;
  all.reserve(measurements.size());
  for (const TrainingMeasurement& each : measurements) all.push_back(&each);
  const Measured fastest = *std::ranges::min_element(all, {}, median_of);
  const Measured slowest = *std::ranges::max_element(all, {}, median_of);
  const std::string time = seconds_text(median_of(fastest));
  const auto answer = [&](Measured chosen, std::string reason) {
    return TrainingRecommendation{static_cast<std::size_t>(chosen - measurements.data()),
                                  std::move(reason)};
  };
  if (fastest->rounds.size() == 1)
    return answer(fastest, fmt::format("The fastest of a single round, {} a step; how much of that "
                                       "is chance only more rounds can tell.",
                                       time));
  std::vector<Measured> tied;
  std::ranges::copy_if(all, std::back_inserter(tied),
                       [&](Measured each) { return is_as_fast(*each, *fastest); });
  if (tied.size() == 1)
    return answer(fastest, fmt::format("The fastest in every round, {} a step; {}.", time,
                                       slowest_text(slowest, fastest)));
  const double difference = median_of(slowest) / median_of(fastest) - 1;
  if (tied.size() == all.size() && difference > kClose) {  // medians say nothing then
    const auto usual = std::ranges::find_if(all, [](Measured each) { return is_usual(*each); });
    const Measured chosen = usual == all.end() ? fastest : *usual;
    return answer(chosen, fmt::format("The medians of the {} ways differ by up to {:.0f} %, but "
                                      "their rounds overlap: more rounds or a quieter machine "
                                      "would tell them apart{}.",
                                      all.size(), 100 * difference, choice_text(chosen, fastest)));
  }
  const Measured chosen = choose(tied, fastest);
  if (tied.size() == all.size())
    return answer(
        chosen,
        fmt::format("All {} ways are within {:.0f} % of each other, and their rounds overlap{}{}.",
                    all.size(), std::ceil(100 * difference), reason_text(all),
                    choice_text(chosen, fastest)));
  std::vector<std::string_view> names;
  names.reserve(tied.size());
  for (const Measured each : tied) names.push_back(each->way.label);
  return answer(chosen, fmt::format("{} are equally fast within the spread of their rounds, {} a "
                                    "step{}; {}.",
                                    fmt::join(names, ", "), time, choice_text(chosen, fastest),
                                    slowest_text(slowest, fastest)));
}

}  // namespace fanin::cli
