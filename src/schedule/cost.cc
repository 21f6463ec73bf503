#include <algorithm>
#include <map>
#include <utility>

#include "fanin/schedule_cost.h"

namespace fanin {
namespace {

/// How many chunks are in at least one of the ranges.
std::int64_t count_chunks(std::vector<Chunks> ranges) {
  std::ranges::sort(ranges, {}, &Chunks::first);
  std::int64_t count = 0;
  int end = 0;
  for (const Chunks& range : ranges) {
    count += std::max(0, range.last - std::max(range.first, end));
    end = std::max(end, range.last);
  }
  return count;
}

/// Sums by place, of which the largest is asked for.
class Busiest {
 public:
  void add(int place, std::int64_t chunks) { most_ = std::max(most_, sums_[place] += chunks); }
  std::int64_t most() const { return most_; }

 private:
  std::map<int, std::int64_t> sums_;
  std::int64_t most_ = 0;
};

}  // namespace

ScheduleCost cost_of(const Schedule& schedule) {
  ScheduleCost cost{.chunk_count = schedule.chunk_count,
                    .round_count = static_cast<int>(schedule.rounds.size())};
  std::map<std::pair<int, int>, std::int64_t> links;
  std::map<int, std::vector<Chunks>> scratch;
  for (const Round& round : schedule.rounds) {
    for (const Step& step : round) {
      if (step.to >= schedule.rank_count) scratch[step.to].push_back(step.chunks);
      for (const int source : step.sources) {
        if (source == step.to) continue;
        ++cost.message_count;
        links[{source, step.to}] += step.chunks.last - step.chunks.first;
      }
    }
  }
  Busiest senders, receivers;
  for (const auto& [ends, chunks] : links) {
    cost.links.push_back({.from = ends.first, .to = ends.second, .chunks = chunks});
    cost.moved_chunks += chunks;
    senders.add(ends.first, chunks);
    receivers.add(ends.second, chunks);
  }
  cost.most_sent = senders.most();
  cost.most_received = receivers.most();
  for (auto& [helper, ranges] : scratch) cost.scratch_chunks += count_chunks(std::move(ranges));
  return cost;
}

}  // namespace fanin
