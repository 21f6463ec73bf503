#include "fanin/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace fanin {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

TraceClock::time_point at(std::int64_t ns) { return TraceClock::time_point(nanoseconds(ns)); }

std::vector<std::string> names_of(const TraceRecord& record) {
  std::vector<std::string> names;
  for (const TraceEvent& event : record.events) names.push_back(event.name);
  return names;
}

TEST(Trace, GivesWhatWasAdded) {
  Trace trace;
  TraceTrack* first = trace.add_track("first");
  TraceTrack* second = trace.add_track("second");
  second->add("reduce", "pack 3", at(20), at(50), {{"bytes", 4096}, {"step", -7}});
  first->add("wait", "", at(10), at(10));
  const TraceRecord expected{
      .tracks = {"first", "second"},
      .events = {{"", "wait", 0, at(10), nanoseconds(0), {}},
                 {"pack 3", "reduce", 1, at(20), nanoseconds(30), {{"bytes", 4096}, {"step", -7}}}},
      .dropped_count = 0};
  EXPECT_EQ(trace.take(), expected);
}

TEST(Trace, ForgetsWhatWasTakenButNotItsTracks) {
  Trace trace;
  TraceTrack* track = trace.add_track("only");
  track->add("pack", "one", at(1), at(2));
  EXPECT_THAT(names_of(trace.take()), ElementsAre("one"));
  EXPECT_THAT(trace.take().events, IsEmpty());
  track->add("pack", "two", at(3), at(4));
  const TraceRecord record = trace.take();
  EXPECT_THAT(names_of(record), ElementsAre("two"));
  EXPECT_THAT(record.tracks, ElementsAre("only"));
  EXPECT_EQ(Trace().take(), TraceRecord());
}

TEST(Trace, SortsByBeginWithTheLongerFirst) {
  Trace trace;
  TraceTrack* track = trace.add_track("nested");
  TraceTrack* other = trace.add_track("other");
  track->add("pack", "inner", at(10), at(20));  // spans are added when they end
  track->add("pack", "outer", at(10), at(40));
  track->add("pack", "last", at(50), at(60));
  other->add("pack", "between", at(30), at(35));
  EXPECT_THAT(names_of(trace.take()), ElementsAre("outer", "inner", "between", "last"));
}

TEST(Trace, TakesAnEndBeforeTheBeginForTheBegin) {
  Trace trace;
  trace.add_track("a")->add("wait", "backwards", at(10), at(9));
  EXPECT_EQ(trace.take().events.at(0).duration, nanoseconds(0));
}

TEST(Trace, CutsLongNames) {
  Trace trace;
  const std::string longest(Trace::kMostNameBytes, 'n');
  TraceTrack* track = trace.add_track(longest + "more");
  track->add("pack", longest, at(1), at(2));
  track->add("pack", longest + "more", at(3), at(4));
  const TraceRecord record = trace.take();
  EXPECT_THAT(record.tracks, ElementsAre(longest));
  EXPECT_THAT(names_of(record), ElementsAre(longest, longest));
}

TEST(Trace, KeepsEventsOfAnyLengthAcrossBlocks) {
  Trace trace;
  TraceTrack* track = trace.add_track("a");
  const auto name_of = [](int i) {
    return std::string(static_cast<std::size_t>(i) % 256, static_cast<char>('a' + i % 26));
  };
  for (int i = 0; i < 5000; ++i)
    track->add("pack", name_of(i), at(i), at(2 * i), {{"a", i}, {"b", 0}, {"c", -i}, {"d", 1}});
  const TraceRecord record = trace.take();
  ASSERT_EQ(record.events.size(), 5000U);
  for (int i = 0; i < 5000; ++i) {
    const TraceEvent& event = record.events[static_cast<std::size_t>(i)];
    ASSERT_EQ(event.name, name_of(i));
    ASSERT_EQ(event.duration, nanoseconds(i));
    ASSERT_THAT(event.numbers,
                ElementsAre(Pair("a", i), Pair("b", 0), Pair("c", -i), Pair("d", 1)));
  }
}

TEST(Trace, CountsWhatDoesNotFitAndTakesMoreWhenItIsEmptied) {
  Trace trace(2 * kBlockBytes);
  TraceTrack* first = trace.add_track("first");
  TraceTrack* second = trace.add_track("second");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10'000; ++i) first->add("pack", "name", at(i), at(i));
    second->add("pack", "late", at(0), at(0));
    const TraceRecord record = trace.take();
    ASSERT_GT(record.events.size(), 1500U) << "round " << round;
    EXPECT_EQ(record.events.size() + record.dropped_count, 10'001U) << "round " << round;
    EXPECT_EQ(record.events.back().begin, at(static_cast<int>(record.events.size()) - 1))
        << "the first ones are kept";
  }
}

TEST(Trace, OfNoMemoryKeepsNothing) {
  for (const std::size_t limit : {std::size_t{0}, kBlockBytes - 1}) {
    Trace trace(limit);
    trace.add_track("a")->add("pack", "name", at(0), at(1));
    const TraceRecord record = trace.take();
    EXPECT_THAT(record.events, IsEmpty());
    EXPECT_EQ(record.dropped_count, 1U);
    EXPECT_EQ(trace.take().dropped_count, 0U);
  }
}

TEST(Trace, LosesNothingOfManyThreadsWhileItIsTaken) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20'000;
  Trace trace;
  TraceTrack* shared = trace.add_track("shared");
  std::vector<TraceRecord> records;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&trace, shared] {
        TraceTrack* own = trace.add_track("own");
        for (int i = 0; i < kEach; ++i)
          (i % 2 == 0 ? own : shared)->add("pack", "name", at(i), at(i + 1), {{"i", i}});
      });
    for (int i = 0; i < 20; ++i) records.push_back(trace.take());
  }
  records.push_back(trace.take());
  std::int64_t count = 0;
  std::int64_t sum = 0;
  for (const TraceRecord& record : records)
    for (const TraceEvent& event : record.events) {
      ++count;
      sum += event.numbers.at(0).second;
      ASSERT_EQ(event.begin, at(event.numbers.at(0).second));
    }
  EXPECT_EQ(count, kThreads * kEach);
  EXPECT_EQ(sum, std::int64_t{kThreads} * kEach * (kEach - 1) / 2);
}

TEST(TraceSpan, LastsFromItsMakingToItsEnd) {
  Trace trace;
  TraceTrack* track = trace.add_track("a");
  const auto before = TraceClock::now();
  {
    const TraceSpan outer(track, "backward", std::string("outer, a name that dies at once"),
                          {{"step", 3}});
    const TraceSpan inner(track, "wait", "inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto after = TraceClock::now();
  const TraceRecord record = trace.take();
  ASSERT_THAT(names_of(record), ElementsAre("outer, a name that dies at once", "inner"));
  const TraceEvent& outer = record.events[0];
  const TraceEvent& inner = record.events[1];
  EXPECT_THAT(outer.numbers, ElementsAre(Pair("step", 3)));
  EXPECT_EQ(inner.category, "wait");
  EXPECT_LE(before, outer.begin);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_GE(inner.duration, std::chrono::milliseconds(2));
  EXPECT_LE(inner.begin + inner.duration, outer.begin + outer.duration);
  EXPECT_LE(outer.begin + outer.duration, after);
}

TEST(TraceSpan, WithoutATrackDoesNothing) {
  const TraceSpan span(nullptr, "wait", "nobody sees it", {{"bytes", 1}});
  const TraceSpan other(nullptr, "wait", "nor this");
}

}  // namespace
}  // namespace fanin
