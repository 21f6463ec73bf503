#include "fanin/price.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

#include "core/require.h"
#include "schedule/message_graph.h"

namespace fanin {
namespace {

/// Messages and sums, times blocks: some seconds and 200 MB.
constexpr std::size_t kMostSimulated = 10'000'000;

/// A message of a block that could leave at this time. The least goes first.
struct Candidate {
  double time = 0;
  int block = 0;
  int work = 0;

  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

/// The two ports of a rank, and what waits for the one out.
struct Ports {
  double out_free = 0;
  double in_free = 0;                     // by the clock of who sends to it: a latency earlier
  std::set<std::pair<int, int>> waiting;  // (block, work), all that they carry is there
  std::optional<Candidate> best;          // of those
  double sent_bytes = 0;
  double received_bytes = 0;
};

class Simulation {
 public:
  Simulation(const std::vector<Work>& graph, int rank_count, double block_bytes,
             const LinkModel& link, int block_count)
      : graph_(graph),
        block_bytes_(block_bytes),
        link_(link),
        block_count_(block_count),
        ports_(static_cast<std::size_t>(rank_count)),
        states_(graph.size() * static_cast<std::size_t>(block_count)) {}

  Price run() {
    for (int block = 0; block < block_count_; ++block)
      for (int work = 0; work < static_cast<int>(graph_.size()); ++work) {
        state(block, work).missing_sources = at(work).source_count;
        if (at(work).source_count == 0) begun_.emplace_back(block, work);
      }
    start_begun();
    while (!candidates_.empty()) {
      const Candidate next = candidates_.top();
      candidates_.pop();
      Ports& out = ports(at(next.work).from);
      if (out.best != next) continue;  // a better one came
      choose(out, next.time);
      if (out.best == next) send(out, next);
    }
    for (const Ports& each : ports_) {
      price_.most_sent_bytes = std::max(price_.most_sent_bytes, each.sent_bytes);
      price_.most_received_bytes = std::max(price_.most_received_bytes, each.received_bytes);
    }
    return price_;
  }

 private:
  struct State {
    int missing_sources = 0;
    int hop_count = 0;  // of the longest chain up to here
    double ready = 0;   // all sources are there
  };

  const Work& at(int work) const { return graph_[static_cast<std::size_t>(work)]; }
  Ports& ports(int rank) { return ports_[static_cast<std::size_t>(rank)]; }
  State& state(int block, int work) {
    return states_[static_cast<std::size_t>(block) * graph_.size() +
                   static_cast<std::size_t>(work)];
  }

  Candidate candidate(const Ports& out, int block, int work) {
    return {std::max({out.out_free, ports(at(work).to).in_free, state(block, work).ready}), block,
            work};
  }

  /// Finds the best of those that wait. They are in order, so the first that need not wait is it.
  void choose(Ports& out, double now) {
    out.best.reset();
    const double earliest = std::max(now, out.out_free);
    for (const auto& [block, work] : out.waiting) {
      const Candidate each = candidate(out, block, work);
      if (!out.best || each < *out.best) out.best = each;
      if (out.best->time <= earliest) break;
    }
    if (out.best) candidates_.push(*out.best);
  }

  void send(Ports& out, const Candidate& message) {
    const Work& work = at(message.work);
    Ports& in = ports(work.to);
    const double bytes = block_bytes_ * work.chunk_count;
    out.out_free = in.in_free = message.time + bytes / link_.bytes_per_second;
    out.sent_bytes += bytes;
    in.received_bytes += bytes;
    ++price_.message_count;
    out.waiting.erase({message.block, message.work});
    choose(out, message.time);
    finish(message.block, message.work, out.out_free + link_.latency_seconds);
    start_begun();
  }

  /// Whoever has all its sources now is begun.
  void finish(int block, int work, double time) {
    const int hop_count = state(block, work).hop_count + (at(work).crosses() ? 1 : 0);
    price_.seconds = std::max(price_.seconds, time);
    price_.hop_count = std::max(price_.hop_count, hop_count);
    for (const int next : at(work).next) {
      State& reader = state(block, next);
      reader.ready = std::max(reader.ready, time);
      reader.hop_count = std::max(reader.hop_count, hop_count);
      if (--reader.missing_sources == 0) begun_.emplace_back(block, next);
    }
  }

  /// What crosses no link takes no time, and so may begin more.
  void start_begun() {
    while (!begun_.empty()) {
      const auto [block, work] = begun_.back();
      begun_.pop_back();
      if (!at(work).crosses()) {
        finish(block, work, state(block, work).ready);
        continue;
      }
      Ports& out = ports(at(work).from);
      out.waiting.emplace(block, work);
      const Candidate arrived = candidate(out, block, work);
      if (out.best && *out.best < arrived) continue;
      out.best = arrived;
      candidates_.push(arrived);
    }
  }

  const std::vector<Work>& graph_;
  const double block_bytes_;
  const LinkModel& link_;
  const int block_count_;
  std::vector<Ports> ports_;                // of each rank
  std::vector<State> states_;               // of each block and work
  std::vector<std::pair<int, int>> begun_;  // (block, work) with all sources there
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
  Price price_;
};

}  // namespace

Price price(const Schedule& schedule, std::size_t bytes, const LinkModel& link, int block_count) {
  require(std::isfinite(link.latency_seconds) && link.latency_seconds >= 0, ErrorKind::kBadOption,
          "a latency of {} seconds cannot be; it is 0 or more", link.latency_seconds);
  require(std::isfinite(link.bytes_per_second) && link.bytes_per_second > 0, ErrorKind::kBadOption,
          "a bandwidth of {} bytes a second cannot be; it is more than 0", link.bytes_per_second);
  require(block_count >= 1 && block_count <= 4096, ErrorKind::kBadOption,
          "{} blocks cannot be; there are from 1 to 4096", block_count);
  const auto error = find_error(schedule);
  require(!error, ErrorKind::kBadSchedule, "{}", error.value_or(""));

  const double block_bytes = static_cast<double>(bytes) / schedule.chunk_count / block_count;
  const std::vector<Work> graph = graph_of(lower_to_messages(schedule), schedule);
  const std::size_t most = kMostSimulated / static_cast<std::size_t>(block_count);
  require(graph.size() <= most, ErrorKind::kBadOption,
          "{} messages and sums in {} blocks each are too many to simulate; use fewer ranks, or at "
          "most {} blocks",
          graph.size(), block_count,
          std::max<std::size_t>(1, kMostSimulated / std::max<std::size_t>(1, graph.size())));
  return Simulation(graph, schedule.rank_count, block_bytes, link, block_count).run();
}

}  // namespace fanin
