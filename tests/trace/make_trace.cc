// Records three workers that do some steps of a training, two threads each, and writes the traces
// as a file: make_trace FILE. The clocks of workers 1 and 2 are wrong, by what is then told of
// them; worker 2 has little memory for its trace.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <future>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fanin/trace.h"
#include "report/process_trace.h"
#include "report/trace_file.h"

namespace fanin {
namespace {

constexpr int kWorkers = 3;
constexpr int kSteps = 3;
constexpr int kPacks = 4;

void work() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

void run_backward(TraceTrack* track, std::vector<std::promise<void>>& packs, int step) {
  const TraceSpan whole(track, "backward", "backward", {{"step", step}});
  for (int pack = 0; pack < kPacks; ++pack) {
    {
      const TraceSpan span(track, "backward", "layer \"" + std::to_string(pack) + "\" of ä\\ö\n");
      work();
    }
    packs[static_cast<std::size_t>(pack)].set_value();
  }
}

void run_communication(TraceTrack* track, std::vector<std::promise<void>>& packs, int step) {
  for (int pack = 0; pack < kPacks; ++pack) {
    const std::string name = "pack " + std::to_string(pack);
    {
      const TraceSpan span(track, "wait", name);
      packs[static_cast<std::size_t>(pack)].get_future().get();
    }
    const TraceSpan span(track, "reduce", name,
                         {{"bytes", std::int64_t{1} << 54 | 1}, {"pack", pack}, {"step", step}});
    work();
  }
}

ProcessTrace run_worker(int rank) {
  Trace trace(rank == 2 ? std::size_t{128} << 10 : Trace::kDefaultLimitBytes);
  const std::string name = "worker " + std::to_string(rank);
  TraceTrack* backward = trace.add_track(name + " backward");
  TraceTrack* communication = trace.add_track(name + " communication");
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::promise<void>> packs(kPacks);
    const std::jthread thread([&] { run_communication(communication, packs, step); });
    run_backward(backward, packs, step);
  }
  if (rank == 2)
    for (int i = 0; i < 10'000; ++i) const TraceSpan span(backward, "update", "too many");

  const std::chrono::nanoseconds error = std::chrono::hours(rank);
  ProcessTrace result{.rank = rank, .name = name, .record = trace.take(), .clock_offset = -error};
  for (TraceEvent& event : result.record.events) event.begin += error;
  return result;
}

void write_file(const std::string& path) {
  std::vector<std::future<ProcessTrace>> workers;
  workers.reserve(kWorkers);
  for (int rank = 0; rank < kWorkers; ++rank)
    workers.push_back(std::async(std::launch::async, run_worker, rank));
  std::vector<ProcessTrace> traces;
  for (auto& worker : workers) {
    const std::string sent = to_bytes(worker.get());
    traces.push_back(trace_from_bytes(std::as_bytes(std::span(sent))));
  }
  std::ofstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  write_trace(traces, [&](std::string_view piece) {
    file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
}

}  // namespace
}  // namespace fanin

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  fanin::write_file(argv[1]);
}
