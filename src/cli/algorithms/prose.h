#pragma once

#include <string_view>

#include "fanin/schedule.h"

namespace fanin::cli {

// The sentences of docs/algorithms.md; document.cc joins them with what is computed.

inline constexpr std::string_view kIntroduction =
    R"(<!-- Made by: fanin algorithms --docs docs. A test compares them; change the tool, not this file. -->
# Algorithms

An algorithm is a function from a topology to a schedule: a list of rounds, in which places become sums of what places held
before the round. `fanin schedule NAME --workers 4` prints one, `--svg` draws it as below, and `fanin verify` proves all of
them for many numbers of ranks. How to write a new one: [adding_an_algorithm.md](adding_an_algorithm.md).

**How to read a picture.** Places go from top to bottom, rounds from left to right. A full box is a sum of what its lines
bring, an empty one a copy; its number is the chunk of the data. Ranks have an input and want the result; helpers are
scratch.

**How to read a table.** The costs are those of the steps as they are written, which is how a network does them. A message
goes from one place to another in one step. The share is that of the place which sends most: 1.5 is one and a half times
the data. Without helpers, the busiest of p ranks cannot send less than 2 (p - 1) / p. Where ranks see each other's memory,
the same schedule is lowered to fewer movements, and the algorithm decides only the order of the sum.
)";

inline constexpr std::string_view kTwoLevels = R"(
## Two levels: a/b and a//b

Any two algorithms make one for workers with several devices each: `a` moves the data within each worker, `b` across
workers. Nothing is written for a pair: the places of the two schedules are renamed into one. In the two pictures below,
ranks 0 and 1 are one worker, ranks 2 and 3 the other; the tables are for two devices on each worker.
)";

inline constexpr std::string_view kByLeader =
    "Through a leader: the devices of each worker reduce to their first one by `direct`, these "
    "leaders all-reduce by `ring`, and each gives the sum back the way it came. Few messages "
    "cross between workers; the leader sends most.";

inline constexpr std::string_view kBySlices =
    "By slices: the devices of each worker reduce-scatter by `direct`, each device all-reduces "
    "its own part by `ring` with the devices of its number in the other workers, and the devices "
    "gather the parts. Every device carries its share across, so all links between workers are "
    "used.";

inline constexpr std::string_view kShards = R"(
## Shards

`--shards N` cuts the data into N shards that are done at the same time. Each shard of an all-reduce begins at another
device, and at another worker when the devices have all had their turn; helpers rotate as well. So what one rank alone
would do is shared by many. For `one_device` with 4 ranks:

)";

inline constexpr std::string_view kGoals = R"(
## Goals

An algorithm says how to all-reduce; the other seven goals follow from that by two moves. *Pruned*: steps that nothing
wanted depends on are left out. *Reversed*: the last round comes first, and where something was added from a place, it is
now copied to it; who collected now distributes. Every goal is proved, as the all-reduce is. The costs are those of `ring`
with 4 ranks; the share is of the whole data, all parts together.

)";

/// What a goal is for, and how it follows from an all-reduce.
struct GoalProse {
  std::string_view meaning;
  std::string_view derivation;
};

inline GoalProse prose_of(Goal goal) {
  switch (goal) {
    case Goal::kAllReduce:
      return {"every rank has an input and wants the sum of all", "the algorithm itself"};
    case Goal::kReduce:
      return {"every rank has an input, the root wants the sum", "all_reduce, pruned"};
    case Goal::kBroadcast:
      return {"the root has an input, every rank wants it", "reduce, reversed"};
    case Goal::kReduceScatter:
      return {"every rank has an input and wants its own part of the sum",
              "all_reduce, cut into parts and pruned"};
    case Goal::kAllGather:
      return {"every rank has a part and wants all of them", "reduce_scatter, reversed"};
    case Goal::kGather:
      return {"every rank has a part, the root wants all of them", "all_gather, pruned"};
    case Goal::kScatter:
      return {"the root has all parts, every rank wants its own", "gather, reversed"};
    case Goal::kAllToAll:
      return {"every rank has a part for every rank", "one scatter from each rank, all at once"};
  }
  return {};
}

}  // namespace fanin::cli
