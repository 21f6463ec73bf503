#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "executor/better_way.h"

namespace fanin {

/// How data goes to processes that do not see it.
enum class UnseenWay : std::uint8_t {
  kPads,     ///< by slots that all ranks write
  kWindows,  ///< by slots that each rank writes for itself
  kFetch,    ///< they copy it
};

/// Which way is the fastest for about so many bytes, as it was found by all calls of a group. Any
/// thread may ask.
class UnseenHabit {
 public:
  /// What is possible beside windows.
  struct Possible {
    bool pads = false;
    bool fetch = false;

    friend auto operator<=>(const Possible&, const Possible&) = default;
  };

  struct Choice {
    UnseenWay way = UnseenWay::kWindows;
    bool is_timed = false;  ///< whether to tell() how long it took
    Possible possible = {};
  };

  /// For the next call.
  Choice next(std::size_t bytes, const Possible& possible);

  void tell(std::size_t bytes, const Choice& choice, double seconds);

 private:
  struct Key {
    std::size_t bits;  // of the bytes
    Possible possible;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  std::mutex mutex_;
  std::map<Key, BetterWay> ways_;
};

}  // namespace fanin
