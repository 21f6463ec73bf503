#include "cli/compare/recommend.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/units.h"

namespace fanin::cli {
namespace {

using Candidates = std::vector<const Measurement*>;

// Sums that are off by this many ulps on average have lost digits to cancellation, not to rounding.
constexpr double kManyUlps = 100;

Candidates filtered(const Candidates& all, const auto& predicate) {
  Candidates some;
  std::ranges::copy_if(all, std::back_inserter(some), predicate);
  return some;
}

const Measurement* find_exact(const Candidates& candidates) {
  const auto found = std::ranges::find_if(candidates, [](const Measurement* each) {
    return each->way.accumulation == Accumulation::kExact;
  });
  return found == candidates.end() ? nullptr : *found;
}

std::string error_text(const Measurement& measurement) {
  return measurement.error.max_ulps == 0
             ? "with no error"
             : fmt::format("with a mean error of {:.2g} ulps", measurement.error.mean_ulps);
}

/// What another way would save in memory, if it is much.
std::string memory_text(const Measurement& best, const Candidates& candidates) {
  const auto leanest = *std::ranges::min_element(candidates, {}, &Measurement::peak_bytes);
  if (leanest->peak_bytes * 2 > best.peak_bytes)
    return fmt::format(" It holds {} at most.", bytes_text(best.peak_bytes));
  return fmt::format(
      " It holds {} at most; where that is too much, {} holds {} and takes {:.1f} times as long.",
      bytes_text(best.peak_bytes), text_of(leanest->way), bytes_text(leanest->peak_bytes),
      leanest->seconds / best.seconds);
}

/// What rounding at each step would do to halves.
std::string rounding_text(const Measurement& best, const std::vector<Measurement>& measurements) {
  const auto native = std::ranges::find_if(measurements, [&](const Measurement& each) {
    return each.way.method == best.way.method && each.way.accumulation == Accumulation::kNative;
  });
  if (native == measurements.end()) return "";
  return fmt::format(" Rounding at each step would have a mean error of {:.2g} ulps instead.",
                     native->error.mean_ulps);
}

}  // namespace

Recommendation recommend(const std::vector<Measurement>& measurements,
                         std::optional<std::size_t> budget_bytes) {
  Candidates all;
  for (const Measurement& measurement : measurements) all.push_back(&measurement);
  const Candidates wide = filtered(
      all, [](const Measurement* each) { return each->way.accumulation == Accumulation::kWide; });
  Candidates fitting = filtered(wide, [&](const Measurement* each) {
    return !budget_bytes || each->peak_bytes <= *budget_bytes;
  });
  std::string limit;
  if (budget_bytes && fitting.empty()) {
    const auto* const leanest = *std::ranges::min_element(wide, {}, &Measurement::peak_bytes);
    return {leanest->way, fmt::format("No way fits into {}; this one holds the least, {}, {}.",
                                      bytes_text(*budget_bytes), bytes_text(leanest->peak_bytes),
                                      error_text(*leanest))};
  }
  if (budget_bytes && fitting.size() < wide.size())
    limit = fmt::format(" of those that fit into {}", bytes_text(*budget_bytes));

  const auto* const fastest = *std::ranges::min_element(fitting, {}, &Measurement::seconds);
  const auto* const exact = find_exact(all);
  if (exact != nullptr && fastest->error.mean_ulps > kManyUlps &&
      (!budget_bytes || exact->peak_bytes <= *budget_bytes))
    return {
        exact->way,
        fmt::format("The terms cancel: every other way is off by {:.2g} ulps or more on "
                    "average. It takes {:.1f} times as long as {}, and holds {}.",
                    (*std::ranges::min_element(
                         wide, {}, [](const Measurement* each) { return each->error.mean_ulps; }))
                        ->error.mean_ulps,
                    exact->seconds / fastest->seconds, text_of(fastest->way),
                    bytes_text(exact->peak_bytes))};
  return {fastest->way,
          fmt::format("The fastest{}, {}, {}.{}{}", limit, seconds_text(fastest->seconds),
                      error_text(*fastest), memory_text(*fastest, fitting),
                      rounding_text(*fastest, measurements))};
}

}  // namespace fanin::cli
