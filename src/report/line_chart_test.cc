#include "report/line_chart.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "report/page.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1))
    ++found;
  return found;
}

std::string tick(const std::string& anchor, const std::string& number) {
  return "text-anchor=\"" + anchor + "\">" + number + "</text>";
}

TEST(LineChart, DrawsValuesWhereTheyStand) {
  const std::string svg = line_chart({{"loss", {2, 0, 1}}}, "epoch", "loss by epoch");
  // From left to right, from the top (2) to the bottom (0), and back to the middle.
  EXPECT_THAT(svg, HasSubstr("d=\"M56.0 30.0 L386.0 300.0 L716.0 165.0\""));
  EXPECT_THAT(svg, HasSubstr(">epoch</text>"));
  EXPECT_THAT(svg, HasSubstr(">loss by epoch</text>"));
}

TEST(LineChart, HasTicksAtRoundNumbers) {
  const std::string loss = line_chart({{"a", {0.873, 0.012}}}, "", "");
  for (const char* number : {"0", "0.1", "0.5", "0.9"})
    EXPECT_THAT(loss, HasSubstr(tick("end", number)));
  EXPECT_THAT(loss, Not(HasSubstr(tick("end", "1"))));
  const std::string signs = line_chart({{"a", {-3, 3}}}, "", "");
  for (const char* number : {"-3", "-1", "0", "3"})
    EXPECT_THAT(signs, HasSubstr(tick("end", number)));
  const std::string many = line_chart({{"a", std::vector<double>(40, 1.0)}}, "", "");
  for (const char* number : {"5", "10", "40"}) EXPECT_THAT(many, HasSubstr(tick("middle", number)));
  EXPECT_THAT(many, Not(HasSubstr(tick("middle", "1"))));
  EXPECT_THAT(many, HasSubstr(tick("end", "1")));  // flat, in the middle
}

TEST(LineChart, LetsLinesOnEachOtherTakeTurns) {
  const std::string svg =
      line_chart({{"a", {3, 1}}, {"other", {1, 3}}, {"b", {3, 1.0000001}}, {"c", {3, 1}}}, "", "");
  for (const char* offset : {"-0", "-12", "-24"})
    EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"12 24\" stroke-dashoffset=\"" +
                               std::string(offset) + "\""));
  EXPECT_EQ(count(svg, "stroke-dasharray"), 3U);
  EXPECT_EQ(count(line_chart({{"whole", {3, 2, 1}}, {"gap", {3, kNan, 1}}}, "", ""), "dasharray"),
            0U);
  for (const char* label : {"a", "other", "b", "c"})
    EXPECT_THAT(svg, HasSubstr(">" + std::string(label) + "</text>"));
}

TEST(LineChart, HasAColourOfThePageForEachOfTenLines) {
  std::vector<Line> lines(11);
  for (std::size_t i = 0; i < lines.size(); ++i)
    lines[i] = {std::to_string(i), {1.0 * static_cast<double>(i), 2.0 * static_cast<double>(i)}};
  const std::string svg = line_chart(lines, "", "");
  const std::string page = Page("").html();
  for (int i = 0; i < 10; ++i) {
    const std::string name = "--l" + std::to_string(i);
    EXPECT_EQ(count(svg, "var(" + name + ")"), i == 0 ? 4U : 2U) << name;  // a curve and a legend
    EXPECT_EQ(count(page, name + ": #"), 2U) << name;                      // light and dark
  }
}

TEST(LineChart, LeavesGapsAndShowsSinglePoints) {
  const std::string gap =
      line_chart({{"a", {1, 2, kNan, 4, 5}}, {"b", {kNan, HUGE_VAL, 3}}}, "", "");
  EXPECT_EQ(count(gap, "M"), 2U);
  EXPECT_EQ(count(gap, "<circle"), 1U);
  EXPECT_THAT(gap, Not(HasSubstr("nan")));
  EXPECT_THAT(gap, Not(HasSubstr("inf")));
  const std::string single = line_chart({{"a", {7}}, {"b", {7}}}, "", "");
  EXPECT_EQ(count(single, "<circle"), 2U);
  EXPECT_THAT(single, HasSubstr("r=\"3.0\""));
  EXPECT_THAT(single, HasSubstr("r=\"5.5\""));  // a ring around the first
}

TEST(LineChart, DrawsNothingOfNothing) {
  for (const std::string& svg : {line_chart({}, "x", "y"), line_chart({{"a", {}}}, "x", "y"),
                                 line_chart({{"a", {kNan}}}, "x", "y")}) {
    EXPECT_THAT(svg, HasSubstr("<svg"));
    EXPECT_THAT(svg, Not(HasSubstr("<path")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
  }
}

TEST(LineChart, GrowsWithItsLegendAndEscapesIt) {
  EXPECT_THAT(line_chart(std::vector<Line>(2), "", ""), HasSubstr("viewBox=\"0 0 860 344\""));
  EXPECT_THAT(line_chart(std::vector<Line>(20), "", ""), HasSubstr("viewBox=\"0 0 860 470\""));
  EXPECT_THAT(line_chart({{"a<b", {1, 2}}}, "<x>", "<y>"),
              Not(testing::ContainsRegex("<[bxy]>|a<b")));
}

}  // namespace
}  // namespace fanin
