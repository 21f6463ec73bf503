#pragma once

#include <string>
#include <vector>

namespace fanin {

/// One bar: a name, a length, and the length as people read it.
struct Bar {
  std::string label;
  double value = 0;
  std::string text;
  bool is_best = false;  ///< drawn so that it is seen first
};

/// Bars below each other, as SVG markup with the colours of a Page; the longest one spans the
/// picture. Values are 0 or more.
std::string bar_chart(const std::vector<Bar>& bars);

/// One bar of several parts that are drawn one after the other.
struct PartedBar {
  std::string label;
  std::vector<double> parts;  ///< one for each name of the legend
};

/// Bars that all span the picture, cut into the shares of their parts, with a legend above. At most
/// six parts.
std::string share_chart(const std::vector<std::string>& legend, const std::vector<PartedBar>& bars);

}  // namespace fanin
