// Any bytes are the trace of a process or an InvalidArgument; what is read can be sent again, and
// written as a file.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "fanin/error.h"
#include "report/process_trace.h"
#include "report/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fanin::ProcessTrace trace;
  try {
    trace = fanin::trace_from_bytes(std::as_bytes(std::span(data, size)));
  } catch (const fanin::InvalidArgument& error) {
    if (error.kind() != fanin::ErrorKind::kBadFile) std::abort();
    return 0;
  }
  const std::string sent = fanin::to_bytes(trace);
  if (fanin::trace_from_bytes(std::as_bytes(std::span(sent))) != trace) std::abort();
  std::string file;
  fanin::write_trace(std::span(&trace, 1), [&](std::string_view piece) { file += piece; });
  if (!file.starts_with('{') || !file.ends_with("]}\n")) std::abort();
  return 0;
}
