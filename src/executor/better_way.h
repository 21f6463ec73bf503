#pragma once

#include <array>
#include <cstddef>

namespace fanin {

/// Which of a few ways to do a thing again and again is the fastest one, here and now: the usual
/// one and another are timed, one after the other, once in a while; the others take turns. Once is
/// by chance, so it takes two comparisons in a row to leave the way that was usual. The first way
/// is the usual one at first.
class BetterWay {
 public:
  static constexpr std::size_t kMostWays = 3;

  struct Rules {
    /// A way is left if it takes more than so many times as long as the other.
    std::array<double, kMostWays> leave;
    /// Calls until the first comparison, and until the next if there was a doubt.
    std::size_t soon;
    /// Comparisons with each other way at the beginning that count as doubt: the first calls of a
    /// way may be the first to touch their memory.
    std::size_t first_doubts = 0;
    /// Calls between two comparisons: many, since one of them goes the slower way.
    std::size_t period = 128;
    std::size_t way_count = 2;
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
  /// The way after this one, in a circle without the usual one.
  std::size_t next_other(std::size_t way) const;

  Rules rules_;
  std::size_t usual_ = 0;
  std::size_t other_ = 1;  // that is compared next
  std::size_t until_timed_;
  double usual_cost_ = 0;  // of the call before, if it was timed
  std::size_t comparisons_ = 0;
  int dissents_ = 0;  // comparisons one after the other that were for this other way
};

}  // namespace fanin
