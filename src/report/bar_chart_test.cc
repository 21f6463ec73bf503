#include "report/bar_chart.h"

#include <gmock/gmock.h>

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(BarChart, DrawsLengthsInProportion) {
  const std::string svg = bar_chart({{"long", 4, "4 s", true}, {"short", 1, "1 s"}});
  EXPECT_THAT(svg, HasSubstr("width=\"530.0\" height=\"18.0\" rx=\"2\" style=\"fill: var(--best)"));
  EXPECT_THAT(svg, HasSubstr("width=\"132.5\" height=\"18.0\" rx=\"2\" style=\"fill: var(--bar)"));
  EXPECT_THAT(svg, HasSubstr("<title>short: 1 s</title>"));
}

TEST(BarChart, DrawsNothingForZeroAndSomethingForLittle) {
  EXPECT_THAT(bar_chart({{"none", 0, "0"}, {"zero", 0, "0"}}), HasSubstr("width=\"0.0\""));
  EXPECT_THAT(bar_chart({{"much", 1e9, "1e9"}, {"little", 1, "1"}}), HasSubstr("width=\"1.0\""));
  EXPECT_THAT(bar_chart({}), HasSubstr("<svg"));
}

TEST(BarChart, EscapesLabels) {
  EXPECT_THAT(bar_chart({{"a<b", 1, "x&y"}}), Not(HasSubstr("a<b")));
}

TEST(ShareChart, CutsBarsIntoShares) {
  const std::string svg = share_chart({"right", "wrong"}, {{"a", {3, 1}}, {"b", {0, 0}}});
  EXPECT_THAT(svg, HasSubstr("width=\"495.0\""));
  EXPECT_THAT(svg, HasSubstr("<title>a, wrong: 25.00 %</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("<title>b, ")));
}

}  // namespace
}  // namespace fanin
