#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fanin {

/// One curve: its values at 1, 2, 3 and so on. Where a value is not finite, there is a gap.
struct Line {
  std::string label;
  std::vector<double> values;
};

/// Curves, as SVG markup with the colours of a Page: axes with ticks, and a legend that names each
/// line. Lines that lie on each other take turns, so that every colour is seen. Ten lines have a
/// colour of their own; the eleventh has that of the first.
std::string line_chart(const std::vector<Line>& lines, std::string_view x_name,
                       std::string_view y_name);

}  // namespace fanin
