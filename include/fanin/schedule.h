#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fanin/place_list.h"

namespace fanin {

/// Neighbouring chunks [first, last) of the data.
struct Chunks {
  int first = 0;
  int last = 0;

  friend bool operator==(const Chunks&, const Chunks&) = default;
};

/// For these chunks, place `to` becomes the sum of what the sources hold, in this order. One source
/// is a copy. More than 9 are summed in the ADD_N order (see add_n).
struct Step {
  int to = 0;
  Chunks chunks;
  PlaceList sources;

  friend bool operator==(const Step&, const Step&) = default;
};

/// Steps that all read what was there before the round.
using Round = std::vector<Step>;

/// Who holds what at the start, and who wants what at the end.
enum class Goal : std::uint8_t {
  kAllReduce,      ///< every rank has an input and wants the sum of all
  kReduce,         ///< every rank has an input, the root wants the sum of all
  kBroadcast,      ///< the root has an input, every rank wants it
  kReduceScatter,  ///< every rank has an input and wants its own part of the sum of all
  kAllGather,      ///< every rank has a part and wants all of them, one after the other
  kGather,         ///< every rank has a part, the root wants all of them
  kScatter,        ///< the root has all parts, every rank wants its own
  kAllToAll,       ///< every rank has a part for every rank
};

/// All of them, in this order.
std::span<const Goal> all_goals();

/// "all_reduce" and so on.
std::string_view name(Goal goal);

/// A collective written down as data. Algorithms build it, find_error() proves it, the executor
/// runs it on any transport, to_text(), to_json() and to_svg() show it. It knows no sizes and no
/// types.
struct Schedule {
  std::string name = {};
  Goal goal = Goal::kAllReduce;
  std::optional<int> root = std::nullopt;  ///< of reduce, broadcast, gather, scatter
  int rank_count = 0;                      ///< places 0 to rank_count - 1
  int helper_count = 0;                    ///< the places after them: scratch, empty at the start
  /// The data is cut into this many chunks, which never meet. Where it is made of parts, a
  /// multiple of their number: p for reduce_scatter, all_gather, gather and scatter, p * p for
  /// all_to_all, sender after sender.
  int chunk_count = 0;
  std::vector<Round> rounds = {};

  int place_count() const { return rank_count + helper_count; }

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// A sentence on the first way in which the schedule does not reach its goal, with round, place and
/// chunk; nothing if it is proved right:
/// - every source is defined when it is read;
/// - no two steps of a round write one cell;
/// - whoever wants a chunk ends with exactly the inputs that the goal names, each once;
/// - all of them have the same expression, so the same bits.
std::optional<std::string> find_error(const Schedule& schedule);

/// The text form of golden files and of files that users write:
///
///     schedule direct goal=all_reduce ranks=2 helpers=0 chunks=2
///     round
///     0 [0,1) = 0 + 1
///     1 [1,2) = 0 + 1
///     round
///     1 [0,1) = 0
///     0 [1,2) = 1
std::string to_text(const Schedule& schedule);

/// Reads the text form. Throws InvalidArgument (kBadSchedule) with the line number and what was
/// expected there. Does not prove the schedule.
Schedule parse_schedule(std::string_view text);

/// One JSON object, for scripts.
std::string to_json(const Schedule& schedule);

/// A picture for people, as one SVG that needs nothing else: places from top to bottom, rounds from
/// left to right, each step as lines from its sources to its target. Of very large schedules it
/// shows the first places, rounds and steps, and says so.
std::string to_svg(const Schedule& schedule);

}  // namespace fanin
