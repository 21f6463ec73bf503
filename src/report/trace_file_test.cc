#include "report/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/expect_error.h"

namespace fanin {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

TraceClock::time_point at(std::int64_t ns) { return TraceClock::time_point(nanoseconds(ns)); }

std::string file_of(const std::vector<ProcessTrace>& traces) {
  std::string file;
  write_trace(traces, [&](std::string_view piece) { file += piece; });
  return file;
}

/// Of one rank with one event.
ProcessTrace make_trace(int rank, std::int64_t begin, std::int64_t clock_offset = 0) {
  ProcessTrace trace{.rank = rank, .name = "worker " + std::to_string(rank)};
  trace.record.tracks = {"backward"};
  trace.record.events = {{"conv1", "backward", 0, at(begin), nanoseconds(10), {}}};
  trace.clock_offset = nanoseconds(clock_offset);
  return trace;
}

std::vector<json> events_of(const std::string& file, std::string_view phase) {
  std::vector<json> events;
  const json whole = json::parse(file);
  for (const json& event : whole.at("traceEvents"))
    if (event.at("ph") == phase) events.push_back(event);
  return events;
}

TEST(WriteTrace, WritesThisFile) {
  ProcessTrace first = make_trace(0, 5'000);
  first.record.tracks.emplace_back("communication");
  first.record.events.push_back({"pack \"3\"",
                                 "reduce",
                                 1,
                                 at(6'234),
                                 nanoseconds(1'000'001),
                                 {{"bytes", 4096}, {"step", -7}}});
  ProcessTrace second = make_trace(1, 1'000'000, -994'900);
  second.record.dropped_count = 12;
  EXPECT_EQ(file_of({first, second}),
            R"json({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":0,"tid":2,"name":"process_name","args":{"name":"worker 0"}},
{"ph":"M","pid":0,"tid":2,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":0,"tid":2,"name":"thread_name","args":{"name":"backward"}},
{"ph":"M","pid":0,"tid":2,"name":"thread_sort_index","args":{"sort_index":2}},
{"ph":"M","pid":0,"tid":3,"name":"thread_name","args":{"name":"communication"}},
{"ph":"M","pid":0,"tid":3,"name":"thread_sort_index","args":{"sort_index":3}},
{"ph":"X","pid":0,"tid":2,"ts":0.000,"dur":0.010,"cat":"backward","name":"conv1","args":{}},
{"ph":"X","pid":0,"tid":3,"ts":1.234,"dur":1000.001,"cat":"reduce","name":"pack \"3\"","args":{"bytes":4096,"step":-7}},
{"ph":"M","pid":1,"tid":4,"name":"process_name","args":{"name":"worker 1 (trace full: 12 later events dropped)"}},
{"ph":"M","pid":1,"tid":4,"name":"process_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":1,"tid":4,"name":"thread_name","args":{"name":"backward"}},
{"ph":"M","pid":1,"tid":4,"name":"thread_sort_index","args":{"sort_index":4}},
{"ph":"X","pid":1,"tid":4,"ts":0.100,"dur":0.010,"cat":"backward","name":"conv1","args":{}}
]}
)json");
}

TEST(WriteTrace, BeginsAtTheFirstEventOfAnyRank) {
  const auto events =
      events_of(file_of({make_trace(0, 2'000), make_trace(1, -9'000, 10'000)}), "X");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("ts"), 1.0);
  EXPECT_EQ(events[1].at("ts"), 0.0);
}

TEST(WriteTrace, IsAFileWithoutEventsToo) {
  EXPECT_EQ(file_of({}), "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n]}\n");
  const std::string file = file_of({{.rank = 0, .name = "idle"}, {.rank = 1, .name = "too"}});
  const auto names = events_of(file, "M");
  ASSERT_EQ(names.size(), 4U);
  EXPECT_NE(names[0].at("tid"), names[2].at("tid"));
}

TEST(WriteTrace, EscapesEveryText) {
  const std::string odd = "\"\\/\n\t\x01 \xc3\xa4 </script> ";
  ProcessTrace trace = make_trace(0, 0);
  trace.name = trace.record.tracks[0] = odd;
  trace.record.events[0].name = trace.record.events[0].category = odd;
  trace.record.events[0].numbers = {{odd, 1}};
  const std::string file = file_of({trace});
  const json event = events_of(file, "X").at(0);
  EXPECT_EQ(event.at("name"), odd);
  EXPECT_EQ(event.at("cat"), odd);
  EXPECT_EQ(event.at("args"), json({{odd, 1}}));
  EXPECT_EQ(events_of(file, "M").at(0).at("args").at("name"), odd);
  trace.record.events[0].name = "cut in a letter: \xc3";
  EXPECT_EQ(events_of(file_of({trace}), "X").at(0).at("name"), "cut in a letter: \xef\xbf\xbd");
}

TEST(WriteTrace, KeepsEveryNanosecondOfTheLongestTimes) {
  const std::int64_t longest = std::int64_t{1} << 60;
  const std::string file =
      file_of({make_trace(0, -longest, -longest), make_trace(1, longest, longest)});
  EXPECT_THAT(file, testing::HasSubstr("\"ts\":4611686018427387.904,"));
}

TEST(WriteTrace, GivesTheFileInPieces) {
  ProcessTrace trace = make_trace(0, 0);
  trace.record.events.resize(10'000, trace.record.events[0]);
  std::size_t most = 0;
  std::string file;
  write_trace(std::span(&trace, 1), [&](std::string_view piece) {
    most = std::max(most, piece.size());
    file += piece;
  });
  EXPECT_LT(most, 100'000U);
  EXPECT_EQ(events_of(file, "X").size(), 10'000U);
}

TEST(WriteTrace, RefusesBeforeItWrites) {
  const auto expect_refusal = [](const std::vector<ProcessTrace>& traces,
                                 const std::string& sentence) {
    expect_error(ErrorKind::kBadOption, sentence,
                 [&] { write_trace(traces, [](std::string_view) { FAIL() << "has written"; }); });
  };
  expect_refusal({make_trace(0, 0), make_trace(4, 0), make_trace(4, 0)},
                 "two traces are of rank 4; give one for each rank");
  ProcessTrace bad = make_trace(1, 0);
  bad.record.events[0].track = 9;
  expect_refusal({make_trace(0, 0), bad},
                 "the trace of rank 1 has \"conv1\" on track 9, but 1 tracks");
}

}  // namespace
}  // namespace fanin
