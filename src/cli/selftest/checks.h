#pragma once

#include <string>
#include <vector>

#include "fanin/group.h"

namespace fanin::cli {

/// What was found: how many results were right, and a line for each that was not.
struct Tally {
  int right = 0;
  std::vector<std::string> wrong;

  void count(bool good, const std::string& what);
  void add(const Tally& other);
};

/// All-reduces every dtype, op and several sizes on this group: against reductions that are exact
/// in every type, and against add_n for the bits. All ranks call it.
Tally check_group(Group& group);

/// Every other collective on this group, in parts of which some are empty, against add_n and
/// copies. All ranks call it.
Tally check_collectives(Group& group);

/// Sums of `count` float32 elements by one algorithm, which have exact results. All ranks call it.
Tally check_algorithm(Group& group, const std::string& algorithm, std::size_t count);

/// All-reduces of `rank_count` replicas in the memory of this process, by every algorithm.
Tally check_replicas(int rank_count);

/// Numbers of very different sizes: another order of summing would give other bits.
Tensor uneven_numbers(int rank, std::size_t count);

bool same_bits(const Tensor& left, const Tensor& right);

}  // namespace fanin::cli
