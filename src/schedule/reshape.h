#pragma once

#include <functional>

#include "fanin/schedule.h"

namespace fanin {

// Schedules made from schedules. None of these checks or proves; find_error() does.

/// Every chunk cut into `factor`.
Schedule refine(Schedule schedule, int factor);

/// Without steps that no wanted cell depends on, or that give a place what it has already: for a
/// goal that wants less than the steps give.
Schedule prune(const Schedule& schedule);

/// The way back: where something was added from a place, it is now copied to it, and the last round
/// comes first. From who collects it makes who distributes. The goal is left to the caller.
Schedule reverse(const Schedule& schedule);

/// Appends rounds that happen at the same time as those from round `first` on, for chunks moved by
/// `first_chunk` and places renamed. Rounds are added as needed.
void merge(Schedule& into, std::size_t first_round, const Schedule& schedule, int first_chunk,
           const std::function<int(int)>& rename);

/// From an all-reduce, which stays as it is, to any goal, without a step that is not needed: to
/// reduce and reduce-scatter by leaving out what nobody wants, to broadcast and all-gather by going
/// back the same way, and so on. Chunks are cut smaller where the goal's parts need it. The root is
/// that of goals which have one.
Schedule for_goal(Schedule all_reduce, Goal goal, int root);

}  // namespace fanin
