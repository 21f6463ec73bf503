// Recursive doubling: in round k, ranks that differ in bit k of their number exchange all of what
// they have, and both add. As few rounds as can be, log2 p, with all the data in each: for small
// data. Numbers that are no power of two are folded first. Thakur, Rabenseifner and Gropp,
// "Optimization of Collective Communication Operations in MPICH" (2005).

#include "algorithms/all.h"
#include "algorithms/power_of_two.h"

namespace fanin {

Schedule recursive_doubling(const Topology& topology) {
  const PowerOfTwo ranks(topology.rank_count());
  Schedule schedule{
      .name = "recursive_doubling", .rank_count = topology.rank_count(), .chunk_count = 1};
  ranks.fold_pairs(schedule);
  for (int distance = 1; distance < ranks.active_count; distance *= 2) {
    Round round;
    for (int index = 0; index < ranks.active_count; ++index) {
      // Both add the lower one first: the same bits.
      const int lower = index & ~distance;
      round.push_back(
          {ranks.rank(index), {0, 1}, {ranks.rank(lower), ranks.rank(lower | distance)}});
    }
    schedule.rounds.push_back(std::move(round));
  }
  ranks.unfold_pairs(schedule);
  return schedule;
}

}  // namespace fanin
