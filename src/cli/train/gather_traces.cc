#include "cli/train/gather_traces.h"

#include <fmt/format.h>

#include "core/clock_offset.h"

namespace fanin::cli {
namespace {

constexpr int kPingCount = 20;

std::int64_t now() { return TraceClock::now().time_since_epoch().count(); }

TraceClock::time_point time_of(std::int64_t count) {
  return TraceClock::time_point(TraceClock::duration(count));
}

/// What is added to this rank's times to get rank 0's.
std::chrono::nanoseconds ask_clock(Group& group) {
  std::vector<ClockSample> samples;
  std::int64_t theirs = 0;
  const TensorView answer = TensorView::over(std::span(&theirs, 1), Shape{1});
  for (int i = 0; i < kPingCount; ++i) {
    const std::int64_t sent = now();
    group.send(Tensor::view(std::span<const std::int64_t>(&sent, 1), Shape{1}), 0);
    group.receive(answer, 0);
    samples.push_back({time_of(sent), time_of(theirs), TraceClock::now()});
  }
  return estimate_offset(samples);
}

void answer_clock(Group& group) {
  for (int rank = 1; rank < group.size(); ++rank)
    for (int i = 0; i < kPingCount; ++i) {
      std::int64_t question = 0;
      group.receive(TensorView::over(std::span(&question, 1), Shape{1}), rank);
      const std::int64_t mine = now();
      group.send(Tensor::view(std::span<const std::int64_t>(&mine, 1), Shape{1}), rank);
    }
}

}  // namespace

std::vector<ProcessTrace> gather_traces(Group& group, Trace& trace) {
  ProcessTrace mine{
      .rank = group.rank(), .name = fmt::format("rank {}", group.rank()), .record = trace.take()};
  if (group.rank() == 0)
    answer_clock(group);
  else
    mine.clock_offset = ask_clock(group);
  const std::string bytes = to_bytes(mine);
  const auto count = static_cast<std::int64_t>(bytes.size());
  const std::vector<std::int64_t> counts =
      group.all_gather(Tensor::of({count}, Shape{1})).to_vector<std::int64_t>();
  const std::optional<Tensor> all =
      group.gather(Tensor::view(std::as_bytes(std::span(bytes)), DType::kUInt8, Shape{count}), 0,
                   {.extents = counts});
  std::vector<ProcessTrace> traces;
  if (!all) return traces;
  std::span<const std::byte> rest = all->bytes();
  for (const std::int64_t each : counts) {
    traces.push_back(trace_from_bytes(rest.first(static_cast<std::size_t>(each))));
    rest = rest.subspan(static_cast<std::size_t>(each));
  }
  return traces;
}

}  // namespace fanin::cli
