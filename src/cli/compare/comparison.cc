#include "cli/compare/comparison.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/text_table.h"
#include "cli/units.h"
#include "report/bar_chart.h"
#include "report/page.h"

namespace fanin::cli {
namespace {

std::string title_of(const Comparison& comparison) {
  return fmt::format("{}, {} {} terms, {} elements", comparison.what, comparison.term_count,
                     name(comparison.dtype), comparison.element_count);
}

std::string ulps_text(double ulps) {
  return ulps < 1e6 ? fmt::format("{:.4g}", ulps) : fmt::format("{:.1e}", ulps);
}

std::string worst_text(const Measurement& measurement) {
  if (measurement.error.max_ulps == 0) return "-";
  return fmt::format("{}[{}]", measurement.worst_gradient, measurement.error.worst_element);
}

PageTable table_of(const Comparison& comparison) {
  PageTable table{.header = {"way", "time", "spread", "in hand", "99 % within", "max ulps",
                             "max relative", "worst element"},
                  .rows = {}};
  for (const Measurement& each : comparison.measurements)
    table.rows.push_back({text_of(each.way), seconds_text(each.seconds),
                          fmt::format("{:.2f} to {:.2f}", each.least_seconds / each.seconds,
                                      each.most_seconds / each.seconds),
                          bytes_text(each.peak_bytes),
                          ulps_text(static_cast<double>(ulps_within(each.error, 0.99))) + " ulps",
                          ulps_text(static_cast<double>(each.error.max_ulps)),
                          fmt::format("{:.2g}", each.error.max_relative), worst_text(each)});
  return table;
}

bool is_recommended(const Comparison& comparison, const Measurement& measurement) {
  return measurement.way.method == comparison.recommendation.way.method &&
         measurement.way.accumulation == comparison.recommendation.way.accumulation;
}

std::string advice_of(const Comparison& comparison) {
  return fmt::format("Use {}. {}", text_of(comparison.recommendation.way),
                     comparison.recommendation.reason);
}

template <typename Value, typename Text>
std::string chart(const Comparison& comparison, const Value& value, const Text& text) {
  std::vector<Bar> bars;
  for (const Measurement& each : comparison.measurements)
    bars.push_back({text_of(each.way), value(each), text(each), is_recommended(comparison, each)});
  return bar_chart(bars);
}

/// Elements that are right, off by 1 ulp, 2 to 3, 4 to 15, 16 to 255, and more.
std::string error_chart(const Comparison& comparison) {
  const std::vector<std::string> legend = {"exact",   "1 ulp",     "2 to 3",
                                           "4 to 15", "16 to 255", "256 and more"};
  constexpr std::size_t kEnds[] = {1, 2, 3, 5, 9, 65};
  std::vector<PartedBar> bars;
  for (const Measurement& each : comparison.measurements) {
    PartedBar bar{.label = text_of(each.way), .parts = {}};
    std::size_t begin = 0;
    for (const std::size_t end : kEnds) {
      const auto first = each.error.histogram.begin();
      bar.parts.push_back(static_cast<double>(
          std::accumulate(first + static_cast<std::ptrdiff_t>(begin),
                          first + static_cast<std::ptrdiff_t>(end), std::size_t{0})));
      begin = end;
    }
    bars.push_back(std::move(bar));
  }
  return share_chart(legend, bars);
}

/// JSON has no infinity.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json("inf");
}

nlohmann::ordered_json to_json(const Way& way) {
  return {{"method", name(way.method)}, {"accumulation", name(way.accumulation)}};
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  return title_of(comparison) + "\n" + text_table(table_of(comparison)) + advice_of(comparison) +
         "\n";
}

std::string to_json(const Comparison& comparison) {
  nlohmann::ordered_json json = {
      {"what", comparison.what},         {"gradients", comparison.gradient_count},
      {"terms", comparison.term_count},  {"elements", comparison.element_count},
      {"dtype", name(comparison.dtype)}, {"rounds", comparison.rounds}};
  auto rows = nlohmann::ordered_json::array();
  for (const Measurement& each : comparison.measurements) {
    nlohmann::ordered_json row = to_json(each.way);
    row["seconds"] = each.seconds;
    row["least_seconds"] = each.least_seconds;
    row["most_seconds"] = each.most_seconds;
    row["peak_bytes"] = each.peak_bytes;
    row["ulps_within_99_percent"] = ulps_within(each.error, 0.99);
    row["mean_ulps"] = number(each.error.mean_ulps);
    row["max_ulps"] = each.error.max_ulps;
    row["max_relative"] = number(each.error.max_relative);
    row["worst"] = {{"gradient", each.worst_gradient}, {"element", each.error.worst_element}};
    rows.push_back(std::move(row));
  }
  json["ways"] = std::move(rows);
  json["recommendation"] = to_json(comparison.recommendation.way);
  json["recommendation"]["reason"] = comparison.recommendation.reason;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string to_page(const Comparison& comparison) {
  Page page("Ways to sum: " + comparison.what);
  page.add_paragraph(title_of(comparison) +
                     ". The terms of a gradient arrive one after the other; times are medians of " +
                     std::to_string(comparison.rounds) + " rounds in turns.");
  page.add_result(advice_of(comparison));
  page.add_figure("Time", chart(
                              comparison, [](const Measurement& each) { return each.seconds; },
                              [](const Measurement& each) { return seconds_text(each.seconds); }));
  page.add_figure(
      "Most memory in hand",
      chart(
          comparison, [](const Measurement& each) { return static_cast<double>(each.peak_bytes); },
          [](const Measurement& each) { return bytes_text(each.peak_bytes); }));
  page.add_figure("Elements by error, against the exact sum", error_chart(comparison));
  page.add_paragraph(
      "An ulp is the step from one number of the type to the next; exact is the number of the type "
      "that is nearest to the sum.");
  page.add_heading("All numbers");
  page.add_table(table_of(comparison));
  return page.html();
}

}  // namespace fanin::cli
