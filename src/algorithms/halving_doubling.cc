// Recursive halving and doubling: ranks that differ in the highest bit of their number exchange
// halves of the data and add, then quarters with the next bit, and so on, until each has the sum of
// one part; the same way back collects the parts. 2 log2 p rounds, and the least bytes. Numbers
// that are no power of two are folded first. Rabenseifner, "Optimization of Collective Reduction
// Operations" (2004).

#include "algorithms/all.h"
#include "algorithms/power_of_two.h"

namespace fanin {
namespace {

/// The chunks that rank `index` has after it has exchanged down to `distance`: those whose numbers
/// agree with its own in all bits from `distance` up.
Chunks chunks_of(int index, int distance) {
  const int first = index / distance * distance;
  return {first, first + distance};
}

}  // namespace

Schedule halving_doubling(const Topology& topology) {
  const PowerOfTwo ranks(topology.rank_count());
  Schedule schedule{.name = "halving_doubling",
                    .rank_count = topology.rank_count(),
                    .chunk_count = ranks.active_count};
  ranks.fold_pairs(schedule);
  for (int distance = ranks.active_count / 2; distance >= 1; distance /= 2) {
    Round round;
    for (int index = 0; index < ranks.active_count; ++index) {
      const int lower = index & ~distance;
      round.push_back({ranks.rank(index),
                       chunks_of(index, distance),
                       {ranks.rank(lower), ranks.rank(lower | distance)}});
    }
    schedule.rounds.push_back(std::move(round));
  }
  for (int distance = 1; distance < ranks.active_count; distance *= 2) {
    Round round;
    for (int index = 0; index < ranks.active_count; ++index) {
      const int partner = index ^ distance;
      round.push_back({ranks.rank(index), chunks_of(partner, distance), {ranks.rank(partner)}});
    }
    schedule.rounds.push_back(std::move(round));
  }
  ranks.unfold_pairs(schedule);
  return schedule;
}

}  // namespace fanin
