#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fanin/schedule.h"

namespace fanin {

/// Who takes part: `worker_count` processes with `devices_per_worker` ranks each, worker after
/// worker.
struct Topology {
  int worker_count = 1;
  int devices_per_worker = 1;

  int rank_count() const { return worker_count * devices_per_worker; }

  friend bool operator==(const Topology&, const Topology&) = default;
};

/// Throws InvalidArgument (kBadOption) unless both counts are at least 1 and give at most 2048
/// ranks.
void check(const Topology& topology);

/// What shall be done, and among whom.
struct Collective {
  Topology topology = {};
  Goal goal = Goal::kAllReduce;
  std::optional<int> root = std::nullopt;  ///< of goals which have one; rank 0 if not given
  /// The data is cut into this many, which are done at the same time; those of an all-reduce begin
  /// at another device each, and at another worker when the devices have all had their turn.
  int shard_count = 1;
};

/// A way to all-reduce, for any topology. The other goals follow from it: what nobody wants is left
/// out, and the way back distributes what the way there collects.
struct Algorithm {
  std::string_view name;
  std::string_view spec_names;   ///< what all_reduce_spec calls it, "" if nothing
  std::string_view summary;      ///< one line for people
  std::string_view description;  ///< a few sentences: how it goes, and what it is good for
  std::string_view paper;        ///< who described it, "" if nobody needed to
  Schedule (*all_reduce)(const Topology& topology);
};

/// All that stand in the table. A new one is a file and a line there.
std::span<const Algorithm> algorithms();

/// The canonical form of a name: that of an algorithm in the table (spec names too: xring is ring),
/// or of two. "a/b" is within each worker by a, through its first device, and across workers by b;
/// "a//b" crosses by slices: every device of a worker carries its own part across.
/// Throws InvalidArgument (kBadSpec) and lists the names if there is none of this name.
std::string canonical_algorithm(std::string_view name);

/// The schedule, with the canonical name, "ring#2" if in 2 shards. Throws InvalidArgument:
/// kBadSpec for the name, kBadOption for the rest.
Schedule build_schedule(std::string_view algorithm, const Collective& collective);

}  // namespace fanin
