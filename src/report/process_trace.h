#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "fanin/trace.h"

namespace fanin {

/// The trace of one process, with what it takes to lay it beside those of others.
struct ProcessTrace {
  int rank = 0;
  std::string name;  ///< "worker 0"
  TraceRecord record = {};
  std::chrono::nanoseconds clock_offset = {};  ///< added to its times, it gives rank 0's

  bool operator==(const ProcessTrace&) const = default;
};

/// Throws InvalidArgument (kBadOption) unless the rank is 0 or more, names have at most
/// Trace::kMostNameBytes, each event is on a track and lasts 0 or longer, and times and the offset
/// are at most 36 years from 0, so that sums and differences of them fit.
void check_process_trace(const ProcessTrace& trace);

/// The form in which a rank sends its trace, some 20 bytes an event. Throws as
/// check_process_trace().
std::string to_bytes(const ProcessTrace& trace);

/// The trace again. Throws InvalidArgument (kBadFile) with a sentence that has the trace as its
/// subject, whatever the bytes are.
ProcessTrace trace_from_bytes(std::span<const std::byte> bytes);

}  // namespace fanin
