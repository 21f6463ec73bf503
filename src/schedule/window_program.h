#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cell.h"
#include "fanin/schedule.h"
#include "schedule/operation.h"

namespace fanin {

/// A level of another rank that must be done before one may read its slots.
struct LevelOf {
  int rank = 0;
  int level = 0;

  friend auto operator<=>(const LevelOf&, const LevelOf&) = default;
};

/// Work of one rank: operations on one chunk each, after the waits.
struct WindowLevel {
  struct Task {
    int chunk = 0;
    Operation operation;
  };
  std::vector<LevelOf> waits;
  std::vector<Task> tasks;
  bool publishes = false;  // somebody waits for this level
};

/// A schedule for ranks that see only what others publish in slots of their windows. A value gets a
/// slot only if another rank (or a later level) reads it, a copy is read from where the value was
/// made, and a sum that is both wanted and read by others is stored twice by one pass.
///
/// Level is the number of hops from the inputs. The data goes in waves: wave w is block w of every
/// chunk. In iteration i a rank runs level l of wave i - l, so all levels are in flight; slots
/// exist once for each level, and a rank writes those of wave w when its readers are done with wave
/// w - level_count.
struct WindowProgram {
  int level_count = 0;
  std::vector<std::vector<WindowLevel>> ranks;  // [rank][level]
  std::vector<std::vector<Cell>> slots;         // [rank][slot]: what it holds
  std::vector<std::vector<int>> readers;        // [rank]: others who read its slots, ascending
  std::vector<int> scratch_counts;              // [rank]
  /// Where a slot is, [rank][slot]: in the place of its own; or, if ranks may write into each
  /// other's memory, in that of a slot which nobody reads but its maker, for this value. What was
  /// made of it is then written to lines that the maker's core has just fetched.
  std::vector<std::vector<Ref>> places;
};

/// The rank that works for a place: itself, or for helpers one rank after the other.
int host_of(const Schedule& schedule, int place);

/// The schedule must be proved (see find_error). Every slot has the place of its own.
WindowProgram lower_to_window(const Schedule& schedule);

/// The same for memory that all ranks write. What goes from rank to rank, each adding its own, does
/// so here too, in one place: a sum is made of the sum before and one term, where some step makes
/// that, and not of all terms at once.
WindowProgram lower_to_pads(const Schedule& schedule);

/// A sentence on the first way in which the program is not what the schedule says, or nothing if it
/// is proved right: inputs are never a target; a slot is written once a wave, by its owner, and
/// read only at a later level that waits for it, by somebody whom the owner waits for before it
/// writes again; scratch is written before it is read; nothing is added to a finished sum; every
/// output that is wanted is written once, finished, with the schedule's expression. Waits point to
/// earlier levels only, so it ends. A place is first written by the slot whose own it is, then over
/// only by who alone reads it, and its owner waits for all who use it.
std::optional<std::string> find_error(const WindowProgram& program, const Schedule& schedule);

}  // namespace fanin
