#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "report/process_trace.h"

namespace fanin {

/// Writes the traces of several ranks as one file in the Chrome trace event format, which
/// https://ui.perfetto.dev and chrome://tracing open: a process for each rank, a thread for each
/// track, times from the first event of all. `write` gets the file piece by piece. Throws
/// InvalidArgument (kBadOption) as check_process_trace(), and if two traces are of one rank, before
/// anything is written.
void write_trace(std::span<const ProcessTrace> traces,
                 const std::function<void(std::string_view)>& write);

}  // namespace fanin
