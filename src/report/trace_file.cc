#include "report/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/require.h"

namespace fanin {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

/// With its quotes. What is not UTF-8, such as the end of a name that was cut, becomes U+FFFD.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "12.345": nanoseconds as microseconds, exactly.
std::string microseconds(nanoseconds time) {
  return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
}

nanoseconds begin_of(const ProcessTrace& trace, const TraceEvent& event) {
  return nanoseconds(event.begin.time_since_epoch()) + trace.clock_offset;
}

nanoseconds first_begin(std::span<const ProcessTrace> traces) {
  nanoseconds first = nanoseconds::max();
  for (const ProcessTrace& trace : traces)
    for (const TraceEvent& event : trace.record.events)
      first = std::min(first, begin_of(trace, event));
  return first;
}

void check_traces(std::span<const ProcessTrace> traces) {
  std::set<int> ranks;
  for (const ProcessTrace& trace : traces) {
    try {
      check_process_trace(trace);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(error.kind(),
                            fmt::format("the trace of rank {} {}", trace.rank, error.what()));
    }
    require(ranks.insert(trace.rank).second, ErrorKind::kBadOption,
            "two traces are of rank {}; give one for each rank", trace.rank);
  }
}

/// The list of events, one a line.
class EventList {
 public:
  explicit EventList(const std::function<void(std::string_view)>& write) : write_(write) {
    piece_ = R"({"displayTimeUnit":"ms","traceEvents":[)";
  }

  /// What describes a process or a thread; `value` is JSON.
  void add_metadata(int rank, std::int64_t thread, std::string_view name, std::string_view key,
                    std::string_view value) {
    begin_line();
    fmt::format_to(std::back_inserter(piece_),
                   R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"{}":{}}}}})", rank, thread,
                   name, key, value);
  }

  void add_event(int rank, std::int64_t thread, nanoseconds begin, const TraceEvent& event) {
    begin_line();
    fmt::format_to(std::back_inserter(piece_),
                   R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"cat":{},"name":{},"args":{{)",
                   rank, thread, microseconds(begin), microseconds(event.duration),
                   json_text(event.category), json_text(event.name));
    const char* comma = "";
    for (const auto& [label, value] : event.numbers) {
      fmt::format_to(std::back_inserter(piece_), "{}{}:{}", comma, json_text(label), value);
      comma = ",";
    }
    piece_ += "}}";
    if (piece_.size() >= kPieceBytes) flush();
  }

  void end() {
    piece_ += "\n]}\n";
    flush();
  }

 private:
  void begin_line() {
    piece_ += is_empty_ ? "\n" : ",\n";
    is_empty_ = false;
  }

  void flush() {
    write_(piece_);
    piece_.clear();
  }

  const std::function<void(std::string_view)>& write_;
  std::string piece_;
  bool is_empty_ = true;
};

void add_names(EventList& list, const ProcessTrace& trace, std::int64_t first_thread) {
  std::string name = trace.name;
  if (trace.record.dropped_count > 0)  // where every viewer shows it
    name += fmt::format(" (trace full: {} later events dropped)", trace.record.dropped_count);
  list.add_metadata(trace.rank, first_thread, "process_name", "name", json_text(name));
  list.add_metadata(trace.rank, first_thread, "process_sort_index", "sort_index",
                    std::to_string(trace.rank));
  std::int64_t thread = first_thread;
  for (const std::string& track : trace.record.tracks) {
    list.add_metadata(trace.rank, thread, "thread_name", "name", json_text(track));
    list.add_metadata(trace.rank, thread, "thread_sort_index", "sort_index",
                      std::to_string(thread));
    ++thread;
  }
}

}  // namespace

void write_trace(std::span<const ProcessTrace> traces,
                 const std::function<void(std::string_view)>& write) {
  check_traces(traces);
  const nanoseconds first = first_begin(traces);
  EventList list(write);
  // Perfetto takes thread 0 of a process for its thread `pid`, and that for its main thread; so the
  // numbers of threads begin after those of processes, and none comes twice.
  std::int64_t first_thread = 1;
  for (const ProcessTrace& trace : traces)
    first_thread = std::max(first_thread, std::int64_t{trace.rank} + 1);
  for (const ProcessTrace& trace : traces) {
    add_names(list, trace, first_thread);
    for (const TraceEvent& event : trace.record.events)
      list.add_event(trace.rank, first_thread + event.track, begin_of(trace, event) - first, event);
    const std::size_t thread_count = std::max(trace.record.tracks.size(), std::size_t{1});
    first_thread += static_cast<std::int64_t>(thread_count);
  }
  list.end();
}

}  // namespace fanin
