#include "report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/text.h"

namespace fanin {
namespace {

// In units of the picture, which scales to its column.
constexpr double kWidth = 860;
constexpr double kLabelWidth = 200;
constexpr double kTextWidth = 130;
constexpr double kRow = 28;
constexpr double kBarHeight = 18;

std::string picture(double height, const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\">\n{}</svg>", kWidth, height, content);
}

std::string label(const std::string& text, double y) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLabelWidth - 10,
                     y + kBarHeight - 4, escape_html(text));
}

std::string box(double x, double y, double width, double height, std::string_view colour,
                const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" "
      "style=\"fill: var(--{})\"><title>{}</title></rect>\n",
      x, y, width, height, colour, escape_html(title));
}

}  // namespace

std::string bar_chart(const std::vector<Bar>& bars) {
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, bar.value);
  const double span = kWidth - kLabelWidth - kTextWidth;
  std::string content;
  double y = 4;
  for (const Bar& bar : bars) {
    // What is there but small is still seen.
    const double width =
        longest > 0 && bar.value > 0 ? std::max(1.0, bar.value / longest * span) : 0;
    content += label(bar.label, y);
    content += box(kLabelWidth, y, width, kBarHeight, bar.is_best ? "best" : "bar",
                   bar.label + ": " + bar.text);
    content += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", kLabelWidth + width + 8,
                           y + kBarHeight - 4, escape_html(bar.text));
    y += kRow;
  }
  return picture(y, content);
}

std::string share_chart(const std::vector<std::string>& legend,
                        const std::vector<PartedBar>& bars) {
  std::string content;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const double x = kLabelWidth + static_cast<double>(i) * (kWidth - kLabelWidth) /
                                       std::max(5.0, static_cast<double>(legend.size()));
    content += box(x, 4, 12, 12, fmt::format("c{}", i), legend[i]);
    content += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"15\">{}</text>\n", x + 18,
                           escape_html(legend[i]));
  }
  double y = 28;
  for (const PartedBar& bar : bars) {
    content += label(bar.label, y);
    const double total = std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
    double x = kLabelWidth;
    for (std::size_t i = 0; i < bar.parts.size() && total > 0; ++i) {
      const double share = bar.parts[i] / total;
      const double width = share * (kWidth - kLabelWidth);
      if (width > 0)
        content += box(x, y, width, kBarHeight, fmt::format("c{}", i),
                       fmt::format("{}, {}: {:.2f} %", bar.label, legend[i], share * 100));
      x += width;
    }
    y += kRow;
  }
  return picture(y, content);
}

}  // namespace fanin
