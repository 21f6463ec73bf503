#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fanin/distributed_values.h"
#include "fanin/group.h"
#include "fanin/packing.h"
#include "kernels/arithmetic.h"

namespace fanin {

int host_count(const Group& group);

/// How data travels between the workers, in a sentence for explain().
std::string describe_travel(const Group& group);

/// AllReduceOptions::label of a pack, counted from 0 here and from 1 there.
std::string pack_label(std::ptrdiff_t index, std::size_t count);

/// What a spec's algorithm is between workers: of two levels, the second.
std::string algorithm_between_workers(const std::string& algorithm);

/// The dtype in which partial sums travel, if there is one.
std::optional<DType> travelling_dtype(const Arithmetic& arithmetic);

/// For explain().
inline constexpr std::string_view kPacksAreAutomatic =
    "bytes_per_pack is 0: a reduction chooses it, by what a pack was measured to cost in this "
    "group; here each travels alone";

/// Of the dense values of one replica.
std::size_t byte_count(std::span<const PerReplica* const> values);

/// How a pack of so many bytes travels between the workers. All packs of a call belong to one epoch
/// of the group: it is in the options, or a rank that is late meets the others' next call.
using HowToTravel = std::function<AllReduceOptions(std::size_t pack_bytes)>;

/// Throws InvalidArgument (kBadDevice) unless the value has a component on each of the worker's
/// devices, and no other.
void check_worker_devices(const PerReplica& value, std::span<const Device> devices);

/// Reduces dense values of the replicas of all workers: each worker of the group gives its own and
/// gets the reductions. With several replicas a worker sums its own first. The op is given for all
/// packs; `how` says the rest.
std::vector<Tensor> reduce_across(Group& group, ReduceOp op,
                                  std::span<const PerReplica* const> values, const Packing& packing,
                                  const HowToTravel& how);

/// The same for one value with a sparse component: by SUM or MEAN.
Value reduce_sparse_across(Group& group, ReduceOp op, const PerReplica& value,
                           const HowToTravel& how);

}  // namespace fanin
