#pragma once

#include <string>
#include <vector>

#include "fanin/algorithms.h"
#include "fanin/all_reduce_spec.h"
#include "fanin/packing.h"
#include "fanin/reduce_op.h"
#include "fanin/schedule_cost.h"

namespace fanin {

/// What shall be reduced, among whom, and what the caller wants of the way.
struct ReductionRequest {
  ReduceOp op = ReduceOp::kSum;
  Topology topology = {};
  std::vector<TensorInfo> tensors = {};
  Packing packing = {};
  /// Which algorithm a pack takes by its size, as in an AllReduceSpec, but of any names in the
  /// table. At least one; the last takes every size.
  std::vector<AllReduceSpec::Element> choices = {};
  /// What goes between processes instead, as in AllReduceOptions. Empty: the same, of "a/b" the b.
  std::string between_processes = {};

  friend bool operator==(const ReductionRequest&, const ReductionRequest&) = default;
};

/// How one pack travels.
struct PlannedPack {
  Pack pack;
  bool is_sparse = false;  ///< the slices of one tensor: what is said of choices does not count
  std::size_t choice = 0;  ///< which of the request's
  std::string algorithm;   ///< in its canonical form, "ring#2" in 2 shards; "gather" if sparse
  std::string reason;      ///< why this one
  int round_count = 0;     ///< steps that wait for each other
  /// By links, if the steps were done as written: what the busiest rank sends and receives. In one
  /// memory nothing is sent; each input is read once, each result stored once.
  std::size_t most_sent_bytes = 0;
  std::size_t most_received_bytes = 0;
  /// Where shards are gathered, for algorithms that have helpers: as "worker 1 CPU".
  std::vector<std::string> gathered_at;

  friend bool operator==(const PlannedPack&, const PlannedPack&) = default;
};

/// Which tensors travel together, by which algorithm and why: a value, to be printed, compared,
/// kept, and run as often as the same list comes.
struct ReductionPlan {
  ReductionRequest request;
  std::vector<PlannedPack> packs;     ///< in the order in which they start
  std::vector<std::string> warnings;  ///< what was asked for and cannot be used
  std::vector<std::string> notes;     ///< what else one might wonder about

  friend bool operator==(const ReductionPlan&, const ReductionPlan&) = default;
};

/// Plans a reduction. Throws InvalidArgument (kBadOption, kBadSpec) for what cannot be.
ReductionPlan plan_reduction(ReductionRequest request);

/// For people: a line for each pack.
std::string to_text(const ReductionPlan& plan);

/// One JSON object for scripts.
std::string to_json(const ReductionPlan& plan);

}  // namespace fanin
