#pragma once

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

/// The data is cut into this many equal parts that belong to different ranks, so the number of
/// chunks is a multiple of it.
int part_count(Goal goal, int rank_count);

/// Whether `rank` has an input in this chunk at the start, and wants something in it at the end.
/// What a rank holds, chunk after chunk, is its input, and what it wants its output.
bool holds(const Schedule& schedule, int rank, int chunk);
bool wants(const Schedule& schedule, int rank, int chunk);

}  // namespace fanin
