#include "cli/compare/recommend.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/units.h"

namespace fanin::cli {
namespace {

using Candidates = std::vector<const Measurement*>;

// Where half of the elements are off by more, digits are lost to cancellation, not to rounding.
constexpr std::uint64_t kManyUlps = 63;

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

std::string ulps_text(const Measurement& measurement, double share) {
  const std::uint64_t ulps = ulps_within(measurement.error, share);
  return fmt::format("{} {}", ulps, ulps == 1 ? "ulp" : "ulps");
}

std::string error_text(const Measurement& measurement) {
  return measurement.error.max_ulps == 0
             ? "without error"
             : fmt::format("99 % of the elements within {}", ulps_text(measurement, 0.99));
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
  return fmt::format(" Rounded at each step, 99 % would be within {}.", ulps_text(*native, 0.99));
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
  const bool all_lose_digits = std::ranges::all_of(
      wide, [](const Measurement* each) { return ulps_within(each->error, 0.5) > kManyUlps; });
  if (exact != nullptr && all_lose_digits && (!budget_bytes || exact->peak_bytes <= *budget_bytes))
    return {exact->way,
            fmt::format("The terms cancel: half of the elements are off by more than {} ulps in "
                        "every other way. It takes {:.1f} times as long as {}, and holds {}.",
                        kManyUlps, exact->seconds / fastest->seconds, text_of(fastest->way),
                        bytes_text(exact->peak_bytes))};
  return {fastest->way,
          fmt::format("The fastest{}, {}, {}.{}{}", limit, seconds_text(fastest->seconds),
                      error_text(*fastest), memory_text(*fastest, fitting),
                      rounding_text(*fastest, measurements))};
}

}  // namespace fanin::cli
