#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "aggregation/partial_sum.h"

namespace fanin {

/// One buffer of partial cells, into which dense terms are added in the order of arrival. It is cut
/// into blocks that threads claim one by one: several threads add at the same time, and who has a
/// block adds all terms that wait for it in one pass. There is no lock around the whole.
class AccumulateSum {
 public:
  /// At most `most_terms` will be pushed.
  AccumulateSum(const SumSetting& setting, std::size_t most_terms, std::size_t element_count);

  /// Returns when the term is in every block, and lets go of it: so there are never more terms in
  /// flight than threads that push.
  void push(Tensor term);

  /// The sum so far. No push may be under way.
  Buffer take() { return std::move(buffer_); }

 private:
  struct alignas(64) Block {
    std::atomic<bool> is_claimed{false};
    std::atomic<std::size_t> added{0};  // terms, in order; changed by who has the claim
  };
  struct Arrival {
    Tensor term;
    std::atomic<std::size_t> blocks_left{0};
  };

  /// Threads that push have a share of the blocks each, as many as the context has threads; more
  /// take turns at the same shares. A thread inside of push() sees to its own share, where it finds
  /// all terms that wait, and to shares that nobody sees to.
  struct alignas(64) Share {
    std::atomic<int> pusher_count{0};  // inside of push()
  };

  /// Under the mutex.
  std::size_t number_of_this_thread();
  /// Adds what waits to the blocks of a share that nobody has claimed.
  void visit_share(std::size_t share);
  void visit_shares(std::size_t own);
  void add_waiting(std::size_t index);
  void add_terms(std::size_t block, std::size_t begin, std::size_t end);

  SumSetting setting_;
  std::size_t element_count_;
  Buffer buffer_;
  std::vector<Block> blocks_;
  std::vector<Share> shares_;
  std::vector<Arrival> arrivals_;
  std::mutex arrival_mutex_;
  std::atomic<std::size_t> arrived_{0};
  std::vector<std::thread::id> pushers_;  // under the mutex
};

}  // namespace fanin
