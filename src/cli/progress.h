#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fanin::cli {

/// A bar on stderr, if that is a terminal, for work that takes longer than a moment. It is gone
/// when the object is.
class Progress {
 public:
  /// What is counted; only bytes have a speed that tells people something.
  enum class Unit : std::uint8_t { kBytes, kWork };

  /// `is_wanted` false: shows nothing.
  Progress(std::size_t total, bool is_wanted, Unit unit = Unit::kBytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is done now: "reading a.npy".
  void start(std::string what);

  void add(std::size_t amount);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(Clock::time_point now);

  const std::size_t total_;
  const bool is_shown_;
  const Unit unit_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point next_draw_;
  bool has_drawn_ = false;
  std::size_t done_ = 0;
  std::string what_;
};

}  // namespace fanin::cli
