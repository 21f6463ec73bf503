#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/operation.h"
#include "schedule/values.h"

namespace fanin {

/// Whether every rank gets a buffer of its own, or all of them one that nobody changes.
enum class Outputs : std::uint8_t { kSeparate, kShared };

/// One chunk of a schedule for those who see all memory: a straight line of operations that reads
/// each input once and stores the result everywhere in one pass. The schedule's steps have fixed
/// the expression; who would have moved what is gone.
struct MemoryProgram {
  std::vector<Operation> operations;
  int scratch_count = 0;

  friend bool operator==(const MemoryProgram&, const MemoryProgram&) = default;
};

/// The schedule must be proved (see find_error).
MemoryProgram lower_to_memory(const Schedule& schedule, int chunk, Outputs outputs);

/// A sentence on the first way in which the program is not what the schedule says, or nothing if it
/// is proved right: inputs are never a target; scratch is counted, written once and before it is
/// read; nothing is added to a finished sum; every output that is wanted is written once, finished,
/// with the schedule's expression.
std::optional<std::string> find_error(const MemoryProgram& program, const Schedule& schedule,
                                      int chunk, Outputs outputs);

}  // namespace fanin
