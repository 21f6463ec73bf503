#pragma once

#include <chrono>
#include <span>

namespace fanin {

/// One question to another process and its answer: when it was sent and when the answer was here,
/// by this process's clock, and what the other's clock showed in between.
struct ClockSample {
  std::chrono::steady_clock::time_point sent;
  std::chrono::steady_clock::time_point theirs;
  std::chrono::steady_clock::time_point received;
};

/// What is added to times of this process's clock to get those of the other's. The sample with the
/// shortest way there and back counts: the error is at most half of that. Throws InvalidArgument:
/// kEmpty without samples, kBadOption if an answer is there before its question.
std::chrono::nanoseconds estimate_offset(std::span<const ClockSample> samples);

}  // namespace fanin
