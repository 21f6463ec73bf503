#pragma once

#include <vector>

#include "fanin/schedule.h"
#include "schedule/message_program.h"

namespace fanin {

/// A message or a fold of a message program, and who must wait for it.
struct Work {
  int from = 0;  // the ranks that do the work at both ends; the same where nothing crosses a link
  int to = 0;
  int chunk_count = 0;         // of a message
  int source_count = 0;        // how often this stands in a `next`
  std::vector<int> next = {};  // what reads what this wrote; often, if it reads several chunks

  bool crosses() const { return from != to; }
};

/// Messages first, in the order in which they stand in the programs of their senders, then folds.
/// Only data is waited for: that memory is used again, or that a place has one order, is not here.
std::vector<Work> graph_of(const MessageProgram& program, const Schedule& schedule);

}  // namespace fanin
