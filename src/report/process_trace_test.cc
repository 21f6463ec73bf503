#include "report/process_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/expect_error.h"

namespace fanin {
namespace {

using std::chrono::nanoseconds;
using testing::StartsWith;

TraceClock::time_point at(std::int64_t ns) { return TraceClock::time_point(nanoseconds(ns)); }

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLongest = std::int64_t{1} << 60;

ProcessTrace make_trace() {
  return {.rank = 3,
          .name = "worker 3",
          .record = {.tracks = {"backward", "communication"},
                     .events = {{"conv1", "backward", 0, at(-5), nanoseconds(100), {}},
                                {"pack 0",
                                 "reduce",
                                 1,
                                 at(1'000'000'000'000),
                                 nanoseconds(0),
                                 {{"bytes", kMost}, {"step", kLeast}, {"pack", 0}, {"sum", -1}}},
                                {"", "", 0, at(7), nanoseconds(kLongest), {{"", 1}}}},
                     .dropped_count = 12},
          .clock_offset = nanoseconds(-77)};
}

ProcessTrace read(std::string_view bytes) {
  return trace_from_bytes(std::as_bytes(std::span(bytes)));
}

TEST(ProcessTrace, ComesBackFromItsBytes) {
  EXPECT_EQ(read(to_bytes(make_trace())), make_trace());
  EXPECT_EQ(read(to_bytes({})), ProcessTrace());
  ProcessTrace extreme{.rank = std::numeric_limits<int>::max(),
                       .name = std::string(Trace::kMostNameBytes, '\0')};
  extreme.record.dropped_count = std::numeric_limits<std::size_t>::max();
  extreme.record.tracks = {""};
  extreme.clock_offset = nanoseconds(kLongest);
  extreme.record.events = {{"a", "b", 0, at(-kLongest), nanoseconds(1), {}},
                           {"a", "b", 0, at(kLongest), nanoseconds(1), {}}};
  EXPECT_EQ(read(to_bytes(extreme)), extreme);
}

TEST(ProcessTrace, TakesFewBytes) {
  ProcessTrace trace{.rank = 0, .name = "worker 0"};
  trace.record.tracks = {"communication"};
  for (int i = 0; i < 10'000; ++i)
    trace.record.events.push_back({"conv2_block1/kernel",
                                   "reduce",
                                   0,
                                   at(i * 50'000),
                                   nanoseconds(40'000),
                                   {{"bytes", 1 << 20}, {"step", i / 100}}});
  EXPECT_LE(to_bytes(trace).size(), 20 * trace.record.events.size());
}

TEST(TraceFromBytes, RefusesEveryTraceThatIsCutOff) {
  const std::string bytes = to_bytes(make_trace());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    expect_error(
        ErrorKind::kBadFile,
        testing::AnyOf(StartsWith("is damaged: expected "), StartsWith("is not a trace: its ")),
        [&] { read(std::string_view(bytes).substr(0, size)); });
  expect_error(
      ErrorKind::kBadFile,
      fmt::format("is damaged: expected its end at byte {} of {}", bytes.size(), bytes.size() + 1),
      [&] { read(bytes + '\0'); });
}

TEST(TraceFromBytes, SurvivesAnyByteInAnyPlace) {
  const std::string bytes = to_bytes(make_trace());
  int refused_count = 0;
  for (std::size_t place = 0; place < bytes.size(); ++place)
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(value);
      try {
        to_bytes(read(damaged));  // what is read is a trace
      } catch (const InvalidArgument& error) {
        ++refused_count;
        ASSERT_EQ(name(error.kind()), "BAD_FILE") << error.what();
      }
    }
  EXPECT_GT(refused_count, 1000);
}

TEST(TraceFromBytes, SaysWhatIsWrong) {
  const std::string start = "fanin trace";
  const auto expect_refusal = [](const std::string& bytes, const std::string& sentence) {
    expect_error(ErrorKind::kBadFile, sentence, [&] { read(bytes); });
  };
  expect_refusal("", "is not a trace: its 0 bytes do not begin as one");
  expect_refusal("fanin tract", "is not a trace: its 11 bytes do not begin as one");
  expect_refusal(start + "\x02",
                 "has version 2; version 1 is known: do all ranks run the same Fanin?");
  expect_refusal(start + "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
                 "is damaged: expected a rank at byte 21 of 22");
  expect_refusal(start + "\x01\x80\x80\x80\x80\x08",
                 "is damaged: expected a rank at byte 12 of 17");
  expect_refusal(start + "\x01\x03\x09worker", "is damaged: expected a name at byte 14 of 20");
  // More texts than bytes that are left, before memory is taken for them.
  expect_refusal(start + std::string("\x01\x03\x01w\x00\x00\xff\xff\xff\xff\x0f", 11),
                 "is damaged: expected a count of texts at byte 17 of 22");
  // A track of text 1 of 1.
  expect_refusal(start + std::string("\x01\x03\x01w\x00\x00\x01\x00\x01\x01", 10),
                 "is damaged: expected the text of a track at byte 20 of 21");
}

TEST(CheckProcessTrace, RefusesWhatCannotBeWritten) {
  const auto expect_refusal = [](const std::string& sentence, const auto& damage) {
    ProcessTrace trace = make_trace();
    damage(trace);
    expect_error(ErrorKind::kBadOption, sentence, [&] { to_bytes(trace); });
  };
  const std::string too_long(256, 'n');
  expect_refusal("has rank -1; ranks are 0 or more", [](ProcessTrace& t) { t.rank = -1; });
  expect_refusal("has a name of 256 bytes; names have at most 255",
                 [&](ProcessTrace& t) { t.name = too_long; });
  expect_refusal("has a track with a name of 256 bytes; names have at most 255",
                 [&](ProcessTrace& t) { t.record.tracks[1] = too_long; });
  expect_refusal("has an event with a name of 256 bytes; names have at most 255",
                 [&](ProcessTrace& t) { t.record.events[0].name = too_long; });
  expect_refusal("has an event with a category of 256 bytes; names have at most 255",
                 [&](ProcessTrace& t) { t.record.events[0].category = too_long; });
  expect_refusal("has a number with a label of 256 bytes; names have at most 255",
                 [&](ProcessTrace& t) { t.record.events[1].numbers[3].first = too_long; });
  expect_refusal("has \"conv1\" on track 2, but 2 tracks",
                 [](ProcessTrace& t) { t.record.events[0].track = 2; });
  expect_refusal("has \"conv1\" on track -1, but 2 tracks",
                 [](ProcessTrace& t) { t.record.events[0].track = -1; });
  expect_refusal("has \"conv1\" that lasts -1 ns; events last from 0 to 1152921504606846976 ns",
                 [](ProcessTrace& t) { t.record.events[0].duration = nanoseconds(-1); });
  expect_refusal(
      "has \"conv1\" at 1152921504606846977 ns; times are at most 1152921504606846976 ns from 0",
      [](ProcessTrace& t) { t.record.events[0].begin = at(kLongest + 1); });
  expect_refusal(
      "has a clock -9223372036854775808 ns from rank 0's; at most 1152921504606846976 make sense",
      [](ProcessTrace& t) { t.clock_offset = nanoseconds(kLeast); });
}

}  // namespace
}  // namespace fanin
