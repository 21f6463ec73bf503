#pragma once

#include <vector>

#include "fanin/group.h"
#include "fanin/trace.h"
#include "report/process_trace.h"

namespace fanin::cli {

/// The traces of all ranks on rank 0, with the differences of their clocks; nothing on the others.
/// A call for all ranks.
std::vector<ProcessTrace> gather_traces(Group& group, Trace& trace);

}  // namespace fanin::cli
