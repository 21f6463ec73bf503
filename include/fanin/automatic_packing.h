#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "fanin/group.h"

namespace fanin {

/// What it costs to all-reduce a pack of b bytes: about seconds + b * seconds_per_byte.
struct PackCost {
  double seconds = 0;
  double seconds_per_byte = 0;

  friend bool operator==(const PackCost&, const PackCost&) = default;
};

/// How gradients are cut into packs where nobody said it, and why.
struct AutomaticPacking {
  std::int64_t bytes_per_pack = 0;
  std::string reason;
};

/// Many small packs pay for each; few large ones begin late, and nothing hides the last. The sum of
/// both, n packs and one that shows, is least at sqrt(bytes * seconds / seconds_per_byte) bytes a
/// pack; of the powers of two, the nearest, from 64 KiB to 256 MiB.
AutomaticPacking choose_packing(std::size_t gradient_bytes, const PackCost& cost);

/// Measures it in this group, in some milliseconds: what rank 0 finds counts for all ranks. A call
/// for all of them. Errors are those of Group::all_reduce().
PackCost measure_pack_cost(Group& group, const AllReduceOptions& options = {});

}  // namespace fanin
