#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fanin/cross_device_ops.h"

namespace fanin {

/// What one replica of a step sees: who it is, and what it does together with the others. Every
/// replica makes the same calls in the same order; a call returns when all have made it. All throw:
/// InvalidArgument as CrossDeviceOps, and kRankMismatch on every replica if their calls differ;
/// PeerFailure if another replica ended before it came; DeadlineExceeded, which names who did not
/// come, after options.timeout_seconds or 5 minutes.
class ReplicaContext {
 public:
  int replica_id() const { return replica_id_; }
  int replica_count() const;
  const Device& device() const;

  /// The reduction of the replicas' lists, value by value; in packs of options.bytes_per_pack.
  std::vector<Value> all_reduce(ReduceOp op, std::span<const Value> values,
                                const CommunicationOptions& options = {});
  Value all_reduce(ReduceOp op, const Value& value, const CommunicationOptions& options = {});

  /// The reduction on the destinations that replica 0 names.
  Result reduce_to(ReduceOp op, const Value& value, const Destinations& destinations,
                   const CommunicationOptions& options = {});

  struct ValueAndDestinations {
    Value value;
    Destinations destinations;
  };
  std::vector<Result> batch_reduce_to(ReduceOp op, std::span<const ValueAndDestinations> pairs,
                                      const CommunicationOptions& options = {});

  /// Replaces the variable, on each of its devices, by `fn(what it has there, argument)`: the
  /// argument of the replica that lives on the device, or of replica 0 if none does. `fn` is
  /// replica 0's.
  using UpdateFn = std::function<Tensor(const Tensor& value, const Tensor& argument)>;
  void update(Variable& variable, const UpdateFn& fn, const Tensor& argument);

  void barrier();

 private:
  class Meeting;
  friend void run_replicas(const CrossDeviceOps&, std::span<const Device>,
                           const std::function<void(ReplicaContext&)>&);
  ReplicaContext(Meeting& meeting, int replica_id) : meeting_(meeting), replica_id_(replica_id) {}

  Meeting& meeting_;
  int replica_id_;
};

/// Runs `step` once for each device, in a thread of its own, and returns when all are done. If some
/// throw, what the first of them threw is thrown again.
void run_replicas(const CrossDeviceOps& ops, std::span<const Device> devices,
                  const std::function<void(ReplicaContext&)>& step);

}  // namespace fanin
