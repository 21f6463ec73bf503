#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace fanin {

/// Counts what one aggregation holds and moves. From any thread.
class HeldMemory {
 public:
  void add(std::size_t bytes) {
    const std::size_t now = now_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void remove(std::size_t bytes) { now_.fetch_sub(bytes, std::memory_order_relaxed); }
  void count_moved(std::size_t bytes) { moved_.fetch_add(bytes, std::memory_order_relaxed); }

  std::size_t now() const { return now_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::size_t moved() const { return moved_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> now_{0};
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::size_t> moved_{0};
};

}  // namespace fanin
