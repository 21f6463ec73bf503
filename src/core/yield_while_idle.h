#pragma once

#include <chrono>
#include <thread>

namespace fanin {

/// Waits awake for something that comes soon, at nobody's expense: yields until `is_there()`, for
/// `most` at most, and only as long as nobody else takes the core meanwhile. Whether it is there;
/// if not, it is time to sleep: whoever computes would keep the core for its whole turn with each
/// yield, but whoever is woken gets it at once.
template <typename IsThere>
bool yield_while_idle(std::chrono::microseconds most, IsThere is_there) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kQuick(5);  // a longer one has given the core to somebody
  const auto begin = Clock::now();
  for (auto before = begin;;) {
    std::this_thread::yield();
    if (is_there()) return true;
    const auto now = Clock::now();
    if (now - before > kQuick || now - begin > most) return false;
    before = now;
  }
}

}  // namespace fanin
