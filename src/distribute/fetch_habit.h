#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "executor/better_way.h"

namespace fanin {

/// Whether data that other processes do not see is better fetched by them, or put into windows: of
/// about so many bytes, as it was found by all calls of a group. Any thread may ask.
class FetchHabit {
 public:
  struct Choice {
    bool fetches = false;
    bool is_timed = false;  ///< whether to tell() how long it took
  };

  /// For the next call.
  Choice next(std::size_t bytes);

  void tell(std::size_t bytes, bool fetched, double seconds);

 private:
  std::mutex mutex_;
  std::map<std::size_t, BetterWay> ways_;  // by the binary logarithm of the bytes
};

}  // namespace fanin
