#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fanin/communication_options.h"
#include "fanin/destinations.h"
#include "fanin/distributed_values.h"
#include "fanin/error.h"
#include "fanin/plan.h"
#include "fanin/reduce_op.h"

namespace fanin {

/// What a reduction gives: a value on its only destination, or the same on several.
using Result = std::variant<Value, Mirrored>;

/// The component of a result on a device. Throws InvalidArgument (kBadDevice) if there is none.
const Value& value_on(const Result& result, const Device& device);

struct ReducePair {
  PerReplica value;
  Destinations destinations;
};

/// Reduces values of several replicas to where they are wanted. All devices are memory of this
/// process; those which share memory share one buffer, which nobody may change. Inputs are never
/// written. Any thread may call.
class CrossDeviceOps {
 public:
  virtual ~CrossDeviceOps();
  CrossDeviceOps(const CrossDeviceOps&) = delete;
  CrossDeviceOps& operator=(const CrossDeviceOps&) = delete;

  /// One value on each destination: a bare one if there is only one destination. Sparse values
  /// alone stay sparse, one after the other; with dense ones among them the result is dense.
  /// Throws InvalidArgument: kBadReduceOp (and for MIN, MAX, PROD of sparse values), kEmpty for no
  /// components, kShapeMismatch, kDtypeMismatch, kSparseMismatch, kIndexOutOfRange, kBadOption;
  /// DeadlineExceeded if it takes longer than options.timeout_seconds.
  Result reduce(ReduceOp op, const PerReplica& value, const Destinations& destinations,
                const CommunicationOptions& options = {}) const;

  /// The same for many at once, which may travel together; results are in the order of the pairs.
  std::vector<Result> batch_reduce(ReduceOp op, std::span<const ReducePair> pairs,
                                   const CommunicationOptions& options = {}) const;

  /// The same value on every destination.
  Result broadcast(const Value& value, const Destinations& destinations) const;

  /// The replicas' tensors one after the other along an axis. Throws InvalidArgument: kEmpty,
  /// kBadOption for an axis that is not there or a sparse value, kDtypeMismatch, and kShapeMismatch
  /// where extents differ but along the axis.
  Result gather(const PerReplica& value, const Destinations& destinations, int axis = 0) const;

  /// What batch_reduce() would do with dense values like these, without doing it. All of them live
  /// on the same devices.
  ReductionPlan plan(ReduceOp op, std::span<const Device> devices, std::vector<TensorInfo> tensors,
                     const CommunicationOptions& options = {}) const;

  /// What batch_reduce() would do with these values; what is sparse stands in the notes.
  ReductionPlan plan(ReduceOp op, std::span<const ReducePair> pairs,
                     const CommunicationOptions& options = {}) const;

 protected:
  /// The replicas of a plan: which input is rank r.
  struct Placement {
    Topology topology;
    std::vector<std::size_t> input_of_rank;
  };

  CrossDeviceOps();

  /// Who is which rank. All in one worker unless told otherwise.
  virtual Placement place(std::span<const Device> devices) const;
  /// Packs and algorithms, for options that have been checked. An object always gives the same:
  /// plans are kept.
  virtual Packing packing(const CommunicationOptions& options) const = 0;
  virtual std::vector<AllReduceSpec::Element> choices() const = 0;

  /// ReductionRequest::between_processes.
  virtual std::string between_processes(const CommunicationOptions& options) const;
  /// What else explain() should say.
  virtual std::vector<std::string> notes(const CommunicationOptions& options) const;
  /// Whether a result on one device is a Mirrored of one component.
  virtual bool mirrors_one_device() const { return false; }
  /// Reduces dense values that live on the same devices, one tensor each. By a plan in this
  /// process unless told otherwise.
  virtual std::vector<Tensor> reduce_dense(ReduceOp op, std::span<const PerReplica* const> values,
                                           const CommunicationOptions& options) const;
  /// Reduces (by SUM or MEAN) a value that has a sparse component.
  virtual Value reduce_sparse(ReduceOp op, const PerReplica& value,
                              const CommunicationOptions& options) const;
  /// Before anything of a reduce() or batch_reduce() travels.
  virtual void begin_call() const {}
  /// Throws InvalidArgument (kBadDevice) if a value does not live where it must. Anywhere is fine
  /// unless told otherwise.
  virtual void check_devices(const PerReplica& value) const;
  /// Tells other workers, who may be in the same call, that arguments of this one were refused.
  virtual void tell_refused(const InvalidArgument& error) const;
  /// Another way to sum the dense terms of one value, or nothing.
  using AccumulationFn = std::function<Tensor(std::span<const Tensor>)>;
  virtual const AccumulationFn* accumulation_fn() const { return nullptr; }

 private:
  class PlanCache;
  /// A ReducePair that somebody else holds.
  struct Item {
    const PerReplica* value;
    const Destinations* destinations;
  };
  /// Values of one call that live on the same devices.
  struct Together {
    std::vector<std::size_t> positions;  // in the call's list
    std::vector<const PerReplica*> values;
  };

  std::vector<Result> reduce_items(ReduceOp op, std::span<const Item> items,
                                   const CommunicationOptions& options) const;
  Value accumulate(ReduceOp op, const PerReplica& value) const;
  Result deliver(Value value, const Destinations& destinations) const;
  ReductionRequest make_request(ReduceOp op, const Topology& topology,
                                std::vector<TensorInfo> tensors,
                                const CommunicationOptions& options) const;

  std::unique_ptr<PlanCache> plans_;
  mutable std::once_flag told_of_sparse_;
};

}  // namespace fanin
