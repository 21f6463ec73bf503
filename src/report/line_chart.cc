#include "report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.h"

namespace fanin {
namespace {

// In units of the picture, which scales to its column.
constexpr double kPictureWidth = 860;
constexpr double kLeft = 56;  // of the plot, as the next three
constexpr double kTop = 30;
constexpr double kHeight = 270;
constexpr double kBelow = 44;
constexpr double kLegendRow = 22;
constexpr double kSwatch = 26;
constexpr double kStripe = 12;  // of lines that take turns
constexpr std::size_t kColourCount = 10;
constexpr double kMostTicks = 10;

/// 1, 2 or 5 times a power of ten: the smallest that needs no more than kMostTicks steps.
double tick_step(double range) {
  const double least = range / kMostTicks;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= least * (1 - 1e-9)) return step * power;
  return 10 * power;
}

/// What an axis spans, from the first tick to the last.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;
};

Axis axis_of_values(const std::vector<Line>& lines) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Line& line : lines)
    for (const double value : line.values)
      if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  if (low > high) return {};
  if (low == high) {  // a flat line goes through the middle
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    low -= room;
    high += room;
  }
  const double step = tick_step(high - low);
  return {std::floor(low / step) * step, std::ceil(high / step) * step, step};
}

/// Where values stand in the picture.
struct Plot {
  double width = 0;
  std::size_t count = 0;  // of the longest line
  Axis values;

  double x(double number) const {
    const double share =
        count > 1 ? (number - 1) / static_cast<double>(count - 1) : 0.5;  // one is in the middle
    return kLeft + share * width;
  }
  double y(double value) const {
    return kTop + kHeight * (values.high - value) / (values.high - values.low);
  }
};

std::string text(double x, double y, std::string_view anchor, std::string_view content) {
  return fmt::format(
      "<text class=\"soft\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
      escape_html(content));
}

std::string rule(double x1, double y1, double x2, double y2, std::string_view colour) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"stroke: "
      "var(--{})\"/>\n",
      x1, y1, x2, y2, colour);
}

std::string axes(const Plot& plot, std::string_view x_name, std::string_view y_name) {
  const double right = kLeft + plot.width;
  const double bottom = kTop + kHeight;
  std::string content = text(kLeft - 8, kTop - 14, "start", y_name);
  const Axis& values = plot.values;
  const auto ticks = std::lround((values.high - values.low) / values.step);
  for (long tick = 0; tick <= ticks; ++tick) {
    const double value = values.low + static_cast<double>(tick) * values.step;
    // What is 0 but for rounding is written as 0.
    const double shown = std::abs(value) < values.step / 2 ? 0 : value;
    content += rule(kLeft, plot.y(value), right, plot.y(value), "line");
    content += text(kLeft - 8, plot.y(value) + 4, "end", fmt::format("{:g}", shown));
  }
  content += rule(kLeft, bottom, right, bottom, "soft");
  const auto count = static_cast<double>(plot.count);
  const double step = plot.count > 2 ? std::max(1.0, tick_step(count - 1)) : 1;
  for (double number = step; number <= count; number += step) {
    content += rule(plot.x(number), bottom, plot.x(number), bottom + 5, "soft");
    content += text(plot.x(number), bottom + 20, "middle", fmt::format("{:g}", number));
  }
  return content + text(right, bottom + kBelow - 6, "end", x_name);
}

bool lie_on_each_other(const Line& one, const Line& other, const Plot& plot) {
  return std::ranges::equal(one.values, other.values, [&](double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::isfinite(a) == std::isfinite(b);
    return std::abs(plot.y(a) - plot.y(b)) < 1;
  });
}

/// A line's turn among those that lie on each other.
struct Turn {
  std::size_t number = 0;
  std::size_t count = 1;
};

std::vector<Turn> turns_of(const std::vector<Line>& lines, const Plot& plot) {
  std::vector<Turn> turns(lines.size());
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto found = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& group) {
      return lie_on_each_other(lines[group.front()], lines[i], plot);
    });
    if (found == groups.end())
      groups.push_back({i});
    else
      found->push_back(i);
  }
  for (const std::vector<std::size_t>& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) turns[group[i]] = {i, group.size()};
  return turns;
}

std::string stroke(std::size_t number) {
  return fmt::format("stroke: var(--l{})", number % kColourCount);
}

/// The curve as a path; a point with no neighbour is a circle, as a path does not show it.
std::string curve(const Line& line, std::size_t number, const Turn& turn, const Plot& plot) {
  const std::vector<double>& values = line.values;
  const auto is_there = [&](std::size_t i) {
    return i < values.size() && std::isfinite(values[i]);
  };
  std::string path;
  std::string circles;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_there(i)) continue;
    const bool has_left = i > 0 && is_there(i - 1);
    const double x = plot.x(static_cast<double>(i + 1));
    const double y = plot.y(values[i]);
    if (has_left || is_there(i + 1))
      path += fmt::format("{}{:.1f} {:.1f} ", has_left ? 'L' : 'M', x, y);
    else  // rings around each other
      circles += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" style=\"{}; fill: none; stroke-width: "
          "2\"><title>{}</title></circle>\n",
          x, y, 3 + 2.5 * static_cast<double>(turn.number), stroke(number),
          escape_html(line.label));
  }
  if (path.empty()) return circles;
  path.pop_back();
  std::string dashes;
  if (turn.count > 1)
    dashes = fmt::format(" stroke-dasharray=\"{} {}\" stroke-dashoffset=\"-{}\"", kStripe,
                         kStripe * static_cast<double>(turn.count - 1),
                         kStripe * static_cast<double>(turn.number));
  return fmt::format(
             "<path d=\"{}\"{} style=\"{}; fill: none; stroke-width: 2.5\"><title>{}</title>"
             "</path>\n",
             path, dashes, stroke(number), escape_html(line.label)) +
         circles;
}

std::string legend(const std::vector<Line>& lines, double x) {
  std::string content;
  double y = kTop + 6;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    content += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" style=\"{3}; "
        "stroke-width: 4\"/>\n<text x=\"{4:.1f}\" y=\"{5:.1f}\">{6}</text>\n",
        x, y, x + kSwatch, stroke(i), x + kSwatch + 8, y + 4, escape_html(lines[i].label));
    y += kLegendRow;
  }
  return content;
}

/// The legend takes what its longest name needs, within limits.
double legend_width(const std::vector<Line>& lines) {
  std::size_t longest = 0;
  for (const Line& line : lines) longest = std::max(longest, line.label.size());
  return std::clamp(kSwatch + 12 + 9 * static_cast<double>(longest), 120.0, 420.0);
}

}  // namespace

std::string line_chart(const std::vector<Line>& lines, std::string_view x_name,
                       std::string_view y_name) {
  const double legend_x = kPictureWidth - legend_width(lines);
  Plot plot{.width = legend_x - 24 - kLeft, .values = axis_of_values(lines)};
  for (const Line& line : lines) plot.count = std::max(plot.count, line.values.size());
  std::string content = axes(plot, x_name, y_name);
  const std::vector<Turn> turns = turns_of(lines, plot);
  for (std::size_t i = 0; i < lines.size(); ++i) content += curve(lines[i], i, turns[i], plot);
  content += legend(lines, legend_x);
  const double height =
      kTop + std::max(kHeight + kBelow, kLegendRow * static_cast<double>(lines.size()));
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">\n{}</svg>", kPictureWidth, height,
                     content);
}

}  // namespace fanin
