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

  /// Under the mutex.
  std::size_t number_of_this_thread();
  /// The block where a thread begins: the same each time, so that blocks stay in its core's cache.
  std::size_t home_of(std::size_t thread) const;
  /// Adds what waits to all blocks that nobody has claimed, beginning with `first`.
  void visit_blocks(std::size_t first);
  void add_waiting(std::size_t index);
  void add_terms(std::size_t block, std::size_t begin, std::size_t end);

  SumSetting setting_;
  std::size_t element_count_;
  Buffer buffer_;
  std::vector<Block> blocks_;
  std::vector<Arrival> arrivals_;
  std::mutex arrival_mutex_;
  std::atomic<std::size_t> arrived_{0};
  std::vector<std::thread::id> pushers_;  // under the mutex
};

}  // namespace fanin
