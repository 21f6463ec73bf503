#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/cell.h"
#include "fanin/schedule.h"
#include "schedule/operation.h"

namespace fanin {

/// A schedule for places that see nothing of each other (networks): the steps as they are written.
/// Every place does its actions one after the other; for a helper, the rank host_of() does them,
/// beside its own. A send waits until the message before it on its link has been received.
///
/// Where the sources of a step are elsewhere, they come as messages into receive slots, and a fold
/// makes the sum. A step that only copies keeps what it receives where it came, or gets it straight
/// into its output. All messages of a round are before its folds, and what a step makes takes fresh
/// memory, so everybody reads what was there before the round.
///
/// Within a round a place first talks to its next neighbour, then to the one after it, and so on
/// (by the numbers of the ranks that do the work), so that not all ranks send to one at a time.
///
/// Scratch and slots are as large as a block of a chunk; each block in flight has its own.
struct MessageProgram {
  /// One chunk of a message: the memory that it comes from or goes to, and what it is.
  struct Cargo {
    Ref memory;
    Cell cell = Cell::kInput;

    friend bool operator==(const Cargo&, const Cargo&) = default;
  };
  struct Message {
    int peer = 0;    // the place at the other end of the link
    int number = 0;  // on this link: 0, 1, 2, ...
    Chunks chunks;
    std::vector<Cargo> cargo;  // of each chunk
  };
  struct Send : Message {};
  struct Receive : Message {};
  struct Fold {
    int chunk = 0;
    Operation operation;  // on memory of this place: targets, scratch and slots are its own
  };
  using Action = std::variant<Send, Receive, Fold>;

  std::vector<std::vector<Action>> places;  // [place]
  std::vector<int> scratch_counts;          // [place]
  std::vector<int> slot_counts;             // [place]
};

/// The schedule must be proved (see find_error).
MessageProgram lower_to_messages(const Schedule& schedule);

/// A sentence on the first way in which the program is not what the schedule says, or nothing if it
/// is proved right: inputs are never a target; scratch and slots are counted for each place,
/// written before they are read, and not used for another chunk before their last reader; nothing
/// is added to a finished sum; what is sent is received on the same link, in the same order, with
/// the same chunks, and all places come to their end although a link holds only one message; every
/// output that is wanted is written once, finished, with the schedule's expression.
std::optional<std::string> find_error(const MessageProgram& program, const Schedule& schedule);

}  // namespace fanin
