#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
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

/// Sums what goes over the same link, by `from`, then by `to`. Schedules list their steps in order,
/// so that of most places the messages are sorted already: they are dealt to their senders, and
/// only those looked at again.
std::vector<LinkLoad> join(const std::vector<LinkLoad>& messages) {
  int last_place = 0;
  for (const LinkLoad& message : messages) last_place = std::max(last_place, message.from);
  std::vector<std::size_t> ends(static_cast<std::size_t>(last_place) + 2);  // of each sender's
  for (const LinkLoad& message : messages) ++ends[static_cast<std::size_t>(message.from) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<LinkLoad> by_sender(messages.size());
  for (const LinkLoad& message : messages)
    by_sender[ends[static_cast<std::size_t>(message.from)]++] = message;

  std::vector<LinkLoad> links;
  for (std::size_t begin = 0; begin < by_sender.size();) {
    const int from = by_sender[begin].from;
    const std::span sent(
        by_sender.begin() + static_cast<std::ptrdiff_t>(begin),
        by_sender.begin() + static_cast<std::ptrdiff_t>(ends[static_cast<std::size_t>(from)]));
    if (!std::ranges::is_sorted(sent, {}, &LinkLoad::to))
      std::ranges::sort(sent, {}, &LinkLoad::to);
    for (const LinkLoad& message : sent) {
      const bool is_new =
          links.empty() || links.back().from != message.from || links.back().to != message.to;
      if (is_new)
        links.push_back(message);
      else
        links.back().chunks += message.chunks;
    }
    begin += sent.size();
  }
  return links;
}

/// Sums by place, of which the largest is asked for.
class Busiest {
 public:
  void add(int place, std::int64_t chunks) { most_ = std::max(most_, sums_[place] += chunks); }
  std::int64_t most() const { return most_; }

 private:
  std::unordered_map<int, std::int64_t> sums_;
  std::int64_t most_ = 0;
};

}  // namespace

ScheduleCost cost_of(const Schedule& schedule) {
  ScheduleCost cost{.chunk_count = schedule.chunk_count,
                    .round_count = static_cast<int>(schedule.rounds.size())};
  std::vector<LinkLoad> messages;
  std::map<int, std::vector<Chunks>> scratch;
  for (const Round& round : schedule.rounds) {
    for (const Step& step : round) {
      if (step.to >= schedule.rank_count) scratch[step.to].push_back(step.chunks);
      for (const int source : step.sources) {
        if (source == step.to) continue;
        messages.push_back({source, step.to, step.chunks.last - step.chunks.first});
      }
    }
  }
  cost.message_count = static_cast<std::int64_t>(messages.size());
  cost.links = join(messages);
  Busiest senders, receivers;
  for (const LinkLoad& link : cost.links) {
    cost.moved_chunks += link.chunks;
    senders.add(link.from, link.chunks);
    receivers.add(link.to, link.chunks);
  }
  cost.most_sent = senders.most();
  cost.most_received = receivers.most();
  for (auto& [helper, ranges] : scratch) cost.scratch_chunks += count_chunks(std::move(ranges));
  return cost;
}

}  // namespace fanin
