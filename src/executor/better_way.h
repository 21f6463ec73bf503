#pragma once

#include <array>
#include <cstddef>

namespace fanin {

/// Which of two ways to do a thing again and again is the faster one, here and now: both are timed,
/// one after the other, once in a while. Once is by chance, so it takes two comparisons in a row to
/// leave the way that was usual. The first way is the usual one at first.
class BetterWay {
 public:
  struct Rules {
    /// A way is left if it takes more than so many times as long as the other.
    std::array<double, 2> leave;
    /// Calls until the first comparison, and until the next if there was a doubt.
    std::size_t soon;
    /// Comparisons at the beginning that count as doubt: the first calls of each way may be the
    /// first to touch their memory.
    int first_doubts = 0;
    /// Calls between two comparisons: many, since one of them goes the slower way.
    std::size_t period = 128;
  };

  explicit BetterWay(const Rules& rules) : rules_(rules), until_timed_(rules.soon) {}

  struct Choice {
    std::size_t way;
    bool is_timed;  ///< whether to tell() how long it took
  };

  /// For the next call.
  Choice next();

  void tell(std::size_t way, double cost);

  std::size_t usual() const { return usual_; }

 private:
  Rules rules_;
  std::size_t usual_ = 0;
  std::size_t until_timed_;
  double usual_cost_ = 0;  // of the call before, if it was timed
  int comparisons_ = 0;
  int dissents_ = 0;  // comparisons one after the other that were for the other way
};

}  // namespace fanin
