#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fanin/schedule.h"

namespace fanin {

/// The goal of this name, or InvalidArgument (kBadSchedule) that lists the names.
Goal parse_goal(std::string_view name);

/// "all_reduce, reduce, ...", for sentences.
std::string list_goals();

/// Whether one rank is different from the others.
bool has_root(Goal goal);

/// Whether inputs are added, not only moved.
bool adds(Goal goal);

/// Whether the data is made of parts that belong to different ranks.
bool has_parts(Goal goal);

/// The data is cut into this many parts, so the number of chunks is a multiple of it.
int part_count(Goal goal, int rank_count);

/// Parts `first`, `first + stride` and so on.
struct PartList {
  int first = 0;
  int count = 0;
  int stride = 1;

  bool contains(int part) const {
    const int from_first = part - first;
    return from_first >= 0 && from_first % stride == 0 && from_first / stride < count;
  }

  friend bool operator==(const PartList&, const PartList&) = default;
};

/// What `rank` has at the start, and what it wants at the end: its input and its output, part after
/// part.
PartList held_parts(Goal goal, int rank_count, int rank, std::optional<int> root);
PartList wanted_parts(Goal goal, int rank_count, int rank, std::optional<int> root);

/// Whether `rank` has an input in this chunk at the start, and wants something in it at the end.
/// What a rank holds, chunk after chunk, is its input, and what it wants its output.
bool holds(const Schedule& schedule, int rank, int chunk);
bool wants(const Schedule& schedule, int rank, int chunk);

}  // namespace fanin
