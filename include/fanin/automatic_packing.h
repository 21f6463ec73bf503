#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Chooses packs by what a group was measured to cost: when first asked, and again in each epoch,
/// because after a failure some ranks may have measured and others not.
class PackingOfGroup {
 public:
  /// The group must outlive it.
  explicit PackingOfGroup(Group& group) : group_(&group) {}

  /// A call for all ranks, as measure_pack_cost().
  AutomaticPacking choose(std::size_t gradient_bytes, const AllReduceOptions& options = {});

 private:
  Group* group_;
  std::optional<PackCost> cost_;
  std::uint64_t epoch_ = 0;  // of the cost
};

}  // namespace fanin
