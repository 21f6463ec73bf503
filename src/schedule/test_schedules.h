#pragma once

#include <string>
#include <vector>

#include "fanin/schedule.h"

namespace fanin {

// Schedules of several shapes, for tests that must not rely on one algorithm. Written as text, so
// that they are easy to check by eye.

/// A ring of 3: chains of adds whose order is rotated from chunk to chunk.
inline Schedule ring_of_3() {
  return parse_schedule(R"(schedule ring goal=all_reduce ranks=3 helpers=0 chunks=3
round
1 [0,1) = 0 + 1
2 [1,2) = 1 + 2
0 [2,3) = 2 + 0
round
2 [0,1) = 1 + 2
0 [1,2) = 2 + 0
1 [2,3) = 0 + 1
round
0 [0,1) = 2
1 [1,2) = 0
2 [2,3) = 1
round
1 [0,1) = 0
2 [1,2) = 1
0 [2,3) = 2
)");
}

/// A tree of 4 that keeps its shape: (0 + 1) + (2 + 3).
inline Schedule tree_of_4() {
  return parse_schedule(R"(schedule tree goal=all_reduce ranks=4 helpers=0 chunks=1
round
0 [0,1) = 0 + 1
2 [0,1) = 2 + 3
round
0 [0,1) = 0 + 2
round
1 [0,1) = 0
2 [0,1) = 0
3 [0,1) = 0
)");
}

/// Two helpers sum one chunk each.
inline Schedule servers_for_3() {
  return parse_schedule(R"(schedule servers goal=all_reduce ranks=3 helpers=2 chunks=2
round
3 [0,1) = 0 + 1 + 2
4 [1,2) = 0 + 1 + 2
round
0 [0,1) = 3
1 [0,1) = 3
2 [0,1) = 3
0 [1,2) = 4
1 [1,2) = 4
2 [1,2) = 4
)");
}

/// Every rank sums everything itself; 20 ranks, so that the ADD_N order has groups.
inline Schedule everyone_of_20() {
  Schedule schedule{.name = "everyone", .rank_count = 20, .chunk_count = 1, .rounds = {{}}};
  std::vector<int> all;
  for (int rank = 0; rank < 20; ++rank) all.push_back(rank);
  for (int rank = 0; rank < 20; ++rank) schedule.rounds[0].push_back({rank, {0, 1}, all});
  return schedule;
}

/// 12 workers of 11 ranks each sum locally, then across: groups inside of groups.
inline Schedule two_levels_of_132() {
  constexpr int kWorkers = 12, kDevices = 11;
  Schedule schedule{.name = "two_levels",
                    .rank_count = kWorkers * kDevices,
                    .chunk_count = 1,
                    .rounds = {{}, {}, {}}};
  std::vector<int> leaders;
  for (int worker = 0; worker < kWorkers; ++worker) {
    std::vector<int> local;
    for (int device = 0; device < kDevices; ++device) local.push_back(worker * kDevices + device);
    leaders.push_back(local.front());
    schedule.rounds[0].push_back({local.front(), {0, 1}, local});
  }
  schedule.rounds[1].push_back({0, {0, 1}, leaders});
  for (int rank = 1; rank < schedule.rank_count; ++rank)
    schedule.rounds[2].push_back({rank, {0, 1}, {0}});
  return schedule;
}

inline Schedule reduce_of_3() {
  return parse_schedule(R"(schedule to_root goal=reduce root=1 ranks=3 helpers=0 chunks=1
round
1 [0,1) = 0 + 1 + 2
)");
}

inline Schedule broadcast_of_3() {
  return parse_schedule(R"(schedule from_root goal=broadcast root=2 ranks=3 helpers=0 chunks=1
round
0 [0,1) = 2
1 [0,1) = 2
)");
}

inline std::vector<Schedule> schedules_of_all_shapes() {
  return {ring_of_3(),   tree_of_4(),      servers_for_3(),    everyone_of_20(),
          reduce_of_3(), broadcast_of_3(), two_levels_of_132()};
}

}  // namespace fanin
