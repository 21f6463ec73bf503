#include "transports/host_engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "transports/host_links.h"

namespace fanin {
namespace {

// For what neighbours have no room for when this rank leaves: then it counts as not sent.
constexpr auto kLastWait = std::chrono::seconds(5);

class HostEngine : public Engine {
 public:
  HostEngine(std::unique_ptr<Engine> between, std::unique_ptr<Transport> inside)
      : between_(std::move(between)),
        inside_(std::move(inside)),
        links_(make_host_links(*inside_)) {
    int local_rank = 0;
    for (const int rank : ranks_of_host(*between_)) {
      if (rank != between_->rank()) neighbours_.push_back({.rank = rank, .local_rank = local_rank});
      ++local_rank;
    }
  }

  ~HostEngine() override {
    const Deadline deadline = Clock::now() + kLastWait;
    for (const Neighbour& each : neighbours_)
      while (!links_->has_sent_all(each.local_rank) && !inside_->is_gone(each.local_rank) &&
             Clock::now() < deadline)
        std::this_thread::yield();
  }
  HostEngine(const HostEngine&) = delete;
  HostEngine& operator=(const HostEngine&) = delete;

  int rank() const override { return between_->rank(); }
  int size() const override { return between_->size(); }
  std::string describe() const override { return between_->describe(); }
  const std::vector<int>& hosts() const override { return between_->hosts(); }
  bool serves_threads() const override { return between_->serves_threads(); }
  void meet(std::chrono::duration<double> timeout) override { between_->meet(timeout); }

  void send(int peer, Buffer block) override {
    Neighbour* const neighbour = find(peer);
    if (neighbour == nullptr) return between_->send(peer, std::move(block));
    Links::Draft draft = links_->begin({.wave = neighbour->sent_count++}, block.size(), call_);
    std::ranges::copy(block.bytes(), draft.bytes.begin());
    links_->send(neighbour->local_rank, std::move(draft));
  }

  bool can_send(int peer) override {
    const Neighbour* const neighbour = find(peer);
    return neighbour == nullptr ? between_->can_send(peer)
                                : links_->can_send(neighbour->local_rank);
  }

  bool has_sent_all(int peer) override {
    const Neighbour* const neighbour = find(peer);
    return neighbour == nullptr ? between_->has_sent_all(peer)
                                : links_->has_sent_all(neighbour->local_rank);
  }

  std::optional<Arrival> advance() override {
    if (std::optional<Arrival> arrival = advance_near()) return arrival;
    return between_->advance();
  }

  bool has_near() const override { return true; }
  std::optional<Arrival> advance_near() override {
    for (Neighbour& each : neighbours_) {
      links_->has_sent_all(each.local_rank);  // sends what there is room for now
      auto delivery = links_->take(each.local_rank, {.wave = each.taken_count}, call_);
      if (!delivery) continue;
      ++each.taken_count;
      return Arrival{each.rank, std::move(delivery->block)};
    }
    return std::nullopt;
  }

 private:
  struct Neighbour {
    int rank = 0;
    int local_rank = 0;  // in `inside`
    std::uint64_t sent_count = 0;
    std::uint64_t taken_count = 0;
  };

  Neighbour* find(int rank) {
    const auto found = std::ranges::find(neighbours_, rank, &Neighbour::rank);
    return found == neighbours_.end() ? nullptr : &*found;
  }

  std::unique_ptr<Engine> between_;
  std::unique_ptr<Transport> inside_;
  std::unique_ptr<Links> links_;
  std::vector<Neighbour> neighbours_;
  Call call_;  // the only one: epochs are the business of whoever uses the engine
};

}  // namespace

std::unique_ptr<Engine> make_host_engine(std::unique_ptr<Engine> between,
                                         std::unique_ptr<Transport> inside) {
  return std::make_unique<HostEngine>(std::move(between), std::move(inside));
}

std::vector<int> ranks_of_host(const Engine& engine) {
  std::vector<int> ranks;
  const int host = engine.hosts()[static_cast<std::size_t>(engine.rank())];
  for (int rank = 0; rank < engine.size(); ++rank)
    if (engine.hosts()[static_cast<std::size_t>(rank)] == host) ranks.push_back(rank);
  return ranks;
}

}  // namespace fanin
