#pragma once

#include <bit>
#include <vector>

#include "fanin/schedule.h"

namespace fanin {

/// The ranks of an algorithm for powers of two, made from any number: of each of the first pairs
/// the odd rank adds the even one's input and stands for both, until a power of two is left.
struct PowerOfTwo {
  explicit PowerOfTwo(int rank_count)
      : active_count(static_cast<int>(std::bit_floor(static_cast<unsigned>(rank_count)))),
        pair_count(rank_count - active_count) {}

  int active_count;
  int pair_count;

  /// The rank that is number `index` of those that go on.
  int rank(int index) const { return index < pair_count ? 2 * index + 1 : index + pair_count; }

  /// Adds a round in which pairs become one, if there are any; and one in which what the odd ranks
  /// have at the end is copied back.
  void fold_pairs(Schedule& schedule) const {
    Round round;
    for (int pair = 0; pair < pair_count; ++pair)
      round.push_back({2 * pair + 1, {0, schedule.chunk_count}, {2 * pair, 2 * pair + 1}});
    if (pair_count > 0) schedule.rounds.push_back(std::move(round));
  }
  void unfold_pairs(Schedule& schedule) const {
    Round round;
    for (int pair = 0; pair < pair_count; ++pair)
      round.push_back({2 * pair, {0, schedule.chunk_count}, {2 * pair + 1}});
    if (pair_count > 0) schedule.rounds.push_back(std::move(round));
  }
};

}  // namespace fanin
