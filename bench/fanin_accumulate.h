#pragma once

#include <atomic>
#include <thread>

#include "fanin/aggregator.h"
#include "fanin_sum.h"

namespace bench {

/// The same terms pushed into an ACCUMULATE_N by two threads, every second one by each.
class FaninAccumulate {
 public:
  explicit FaninAccumulate(const FaninSum& sum)
      : terms_(sum.terms()), second_([this](const std::stop_token& stop) { serve(stop); }) {}

  void run() {
    fanin::Aggregator aggregator(static_cast<int>(terms_.size()),
                                 fanin::AggregationMethod::kExperimentalAccumulateN);
    shared_ = &aggregator;
    const int job = asked_.fetch_add(1) + 1;
    push(0);
    while (done_.load() != job) std::this_thread::yield();
    aggregator.finish();
  }

 private:
  void push(std::size_t first) {
    for (std::size_t i = first; i < terms_.size(); i += 2) shared_->push(terms_[i]);
  }

  /// It spins: how long a sleeping thread takes to wake is not what is measured.
  void serve(const std::stop_token& stop) {
    for (int seen = 0; !stop.stop_requested();) {
      if (asked_.load() == seen) {
        std::this_thread::yield();
        continue;
      }
      push(1);
      done_ = ++seen;
    }
  }

  const std::vector<fanin::Tensor>& terms_;
  fanin::Aggregator* shared_ = nullptr;
  std::atomic<int> asked_{0};
  std::atomic<int> done_{0};
  std::jthread second_;
};

}  // namespace bench
