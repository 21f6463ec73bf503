#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/operation.h"
#include "schedule/values.h"

namespace fanin {

/// Whether every rank gets a buffer of its own, or all of them one that nobody changes.
enum class Outputs : std::uint8_t { kSeparate, kShared };

/// How a schedule is lowered for those who see all memory.
enum class Lowering : std::uint8_t {
  kFused,    ///< each input is read once, each result stored everywhere in one pass
  kLiteral,  ///< the steps as they are written, with a copy for each place, as networks do
};

/// One chunk of a schedule for those who see all memory: a straight line of operations. The steps
/// have fixed the expression; unless it is literal, who would have moved what is gone.
struct MemoryProgram {
  std::vector<Operation> operations;
  int scratch_count = 0;

  friend bool operator==(const MemoryProgram&, const MemoryProgram&) = default;
};

/// The schedule must be proved (see find_error). An expression that would need scratch becomes one
/// operation with joins, if there is only one and it has at most `most_nested_sources`.
MemoryProgram lower_to_memory(const StepIndex& steps, int chunk, Outputs outputs,
                              std::size_t most_nested_sources = 0);

/// The steps as written. Every step writes memory of its own: the output of its rank if it is the
/// last to write there, otherwise scratch, which is counted and used again when no later step reads
/// it. Outputs must not be the memory of inputs, which later steps may still read.
MemoryProgram lower_literally(const StepIndex& steps, int chunk);

/// A sentence on the first way in which the program is not what the schedule says, or nothing if it
/// is proved right: inputs are never a target; scratch is counted and written before it is read;
/// nothing is added to a finished sum, which may only be copied; every output that is wanted is
/// written once, finished, with the schedule's expression.
std::optional<std::string> find_error(const MemoryProgram& program, const StepIndex& steps,
                                      int chunk, Outputs outputs);

}  // namespace fanin
