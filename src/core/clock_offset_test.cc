#include "core/clock_offset.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "core/expect_error.h"

namespace fanin {
namespace {

using std::chrono::nanoseconds;

std::chrono::steady_clock::time_point at(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(nanoseconds(ns));
}

TEST(EstimateOffset, IsTheirTimeAgainstTheMiddleOfOurs) {
  const std::vector<ClockSample> ahead = {{at(100), at(1150), at(200)}};
  EXPECT_EQ(estimate_offset(ahead), nanoseconds(1000));
  const std::vector<ClockSample> behind = {{at(1100), at(150), at(1200)}};
  EXPECT_EQ(estimate_offset(behind), nanoseconds(-1000));
  const std::vector<ClockSample> at_once = {{at(5), at(5), at(5)}};
  EXPECT_EQ(estimate_offset(at_once), nanoseconds(0));
}

TEST(EstimateOffset, TrustsTheShortestWay) {
  // The other clock is 500 ahead; of the long ways, one was slow there and the other back.
  const std::vector<ClockSample> samples = {
      {at(0), at(1400), at(1000)}, {at(2000), at(2505), at(2010)}, {at(3000), at(3600), at(4000)}};
  EXPECT_EQ(estimate_offset(samples), nanoseconds(500));
}

TEST(EstimateOffset, DoesNotOverflowLateTimes) {
  const std::int64_t late = std::numeric_limits<std::int64_t>::max() - 100;
  const std::vector<ClockSample> samples = {{at(late), at(late + 60), at(late + 100)}};
  EXPECT_EQ(estimate_offset(samples), nanoseconds(10));
}

TEST(EstimateOffset, RefusesWhatCannotBe) {
  expect_error(ErrorKind::kEmpty,
               "clocks cannot be compared without samples; ask the other process at least once",
               [] { estimate_offset({}); });
  const std::vector<ClockSample> backwards = {{at(0), at(0), at(1)}, {at(10), at(7), at(4)}};
  expect_error(
      ErrorKind::kBadOption,
      "a clock sample was received 6 ns before it was sent; take both times from one clock",
      [&] { estimate_offset(backwards); });
}

}  // namespace
}  // namespace fanin
