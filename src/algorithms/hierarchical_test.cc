#include "algorithms/hierarchical.h"

#include <gmock/gmock.h>

namespace fanin {
namespace {

/// Messages between ranks of different workers, in chunks.
int chunks_across(const Schedule& schedule, int devices) {
  int count = 0;
  for (const Round& round : schedule.rounds)
    for (const Step& step : round)
      for (const int source : step.sources)
        if (source / devices != step.to / devices) count += step.chunks.last - step.chunks.first;
  return count;
}

TEST(Hierarchical, CrossesThroughTheLeaderOnly) {
  const Schedule schedule =
      build_schedule("direct/ring", {.topology = {.worker_count = 3, .devices_per_worker = 4}});
  EXPECT_EQ(schedule.name, "direct/ring");
  for (const Round& round : schedule.rounds)
    for (const Step& step : round)
      for (const int source : step.sources)
        if (source / 4 != step.to / 4) {
          EXPECT_EQ(source % 4, 0);
          EXPECT_EQ(step.to % 4, 0);
        }
  // A ring of 3 moves 2 (3 - 1) / 3 of the data from each.
  EXPECT_EQ(chunks_across(schedule, 4) * 3, schedule.chunk_count * 3 * 4);
}

TEST(Hierarchical, CrossesFromEveryDeviceBySlices) {
  const Schedule schedule =
      build_schedule("direct//ring", {.topology = {.worker_count = 3, .devices_per_worker = 4}});
  EXPECT_EQ(schedule.name, "direct//ring");
  std::set<int> senders;
  for (const Round& round : schedule.rounds)
    for (const Step& step : round)
      for (const int source : step.sources)
        if (source / 4 != step.to / 4) {
          EXPECT_EQ(source % 4, step.to % 4);
          senders.insert(source);
        }
  EXPECT_EQ(senders.size(), 12U);
  EXPECT_EQ(chunks_across(schedule, 4) * 3, schedule.chunk_count * 3 * 4) << "the same bytes";
}

}  // namespace
}  // namespace fanin
