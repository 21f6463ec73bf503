#pragma once

#include <random>
#include <string>

#include "fanin/schedule.h"

namespace fanin {

/// A schedule with one thing changed, and what it was.
struct Mutant {
  Schedule schedule;
  std::string change;
};

/// Drops, doubles, redirects, shifts or reorders one step, or a source of one. The schedule must
/// have a step.
Mutant mutate(const Schedule& schedule, std::mt19937& random);

/// Whether the schedule reaches its goal, found by running it with sets and sentences in place of
/// numbers: slow, simple, and nothing of the verifier's own code.
bool reaches_goal(const Schedule& schedule);

}  // namespace fanin
