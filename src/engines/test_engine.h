#pragma once

// An engine for tests: threads of one process as ranks that see nothing of each other.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engines/engine.h"
#include "fanin/error.h"

namespace fanin::test {

/// Messages arrive in the order of each sender, but one from another rank may overtake.
class LoopEngine : public Engine {
 public:
  struct Post {
    explicit Post(std::vector<int> host_of_rank)
        : hosts(std::move(host_of_rank)), boxes(hosts.size()) {
      for (auto& box : boxes) box.resize(hosts.size());
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int> hosts;
    std::vector<std::vector<std::deque<Buffer>>> boxes;  // [to][from]
    int meeting_count = 0;
    bool serves_threads = true;
  };

  LoopEngine(std::shared_ptr<Post> post, int rank) : post_(std::move(post)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(post_->hosts.size()); }
  std::string describe() const override { return "loop"; }
  const std::vector<int>& hosts() const override { return post_->hosts; }
  bool serves_threads() const override { return post_->serves_threads; }

  void meet(std::chrono::duration<double> timeout) override {
    std::unique_lock lock(post_->mutex);
    const int wanted = (post_->meeting_count / size() + 1) * size();
    ++post_->meeting_count;
    post_->changed.notify_all();
    if (!post_->changed.wait_for(lock, timeout, [&] { return post_->meeting_count >= wanted; }))
      throw DeadlineExceeded("not all ranks have come");
  }

  void send(int peer, Buffer block) override {
    const std::lock_guard lock(post_->mutex);
    box(peer, rank_).push_back(std::move(block));
  }

  bool can_send(int peer) override {
    const std::lock_guard lock(post_->mutex);
    return box(peer, rank_).size() < kMostUnsent;
  }
  bool has_sent_all(int peer) override {
    const std::lock_guard lock(post_->mutex);
    return box(peer, rank_).empty();
  }

  std::optional<Arrival> advance() override {
    const std::lock_guard lock(post_->mutex);
    for (int i = 0; i < size(); ++i) {
      const int from = next_++ % size();
      auto& waiting = box(rank_, from);
      if (waiting.empty()) continue;
      Arrival arrival{from, std::move(waiting.front())};
      waiting.pop_front();
      return arrival;
    }
    return std::nullopt;
  }

 private:
  std::deque<Buffer>& box(int to, int from) const {
    return post_->boxes[static_cast<std::size_t>(to)][static_cast<std::size_t>(from)];
  }

  std::shared_ptr<Post> post_;
  int rank_;
  int next_ = 0;  // from whom to take next
};

/// Remembers to whom it has sent, and how often it was asked.
class CountingEngine : public LoopEngine {
 public:
  using LoopEngine::LoopEngine;

  void send(int peer, Buffer block) override {
    peers.push_back(peer);
    LoopEngine::send(peer, std::move(block));
  }

  std::optional<Arrival> advance() override {
    ++asked_count;
    return LoopEngine::advance();
  }

  std::vector<int> peers = {};
  int asked_count = 0;
};

/// One for each rank; `hosts` as in Engine.
inline std::vector<std::unique_ptr<Engine>> make_loop_engines(std::vector<int> hosts,
                                                              bool serves_threads = true) {
  const auto post = std::make_shared<LoopEngine::Post>(std::move(hosts));
  post->serves_threads = serves_threads;
  std::vector<std::unique_ptr<Engine>> engines;
  for (int rank = 0; rank < static_cast<int>(post->hosts.size()); ++rank)
    engines.push_back(std::make_unique<LoopEngine>(post, rank));
  return engines;
}

}  // namespace fanin::test
