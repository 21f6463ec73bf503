#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "fanin/context.h"
#include "fanin/group.h"
#include "fanin/reduction.h"
#include "fanin/reduction_plan.h"
#include "fanin/tensor.h"

namespace fanin {

/// Whether all replicas get one buffer that nobody changes, or each its own.
enum class ResultBuffers : std::uint8_t { kShared, kSeparate };

/// A reduction of replicas, planned, proved and bound: run() only moves data.
class Plan {
 public:
  /// All replicas are of this process. Throws InvalidArgument as plan_reduction().
  explicit Plan(ReductionPlan plan, ResultBuffers buffers = ResultBuffers::kShared,
                Context& context = Context::process());

  /// As one worker of several: this process gives the replicas of its rank in the group, which get
  /// one buffer. Devices of one worker share memory and are summed in one pass; of an algorithm of
  /// two levels, the second is the one between workers. The group must outlive the plan, and nobody
  /// else may call it while something of the plan's is under way. Throws InvalidArgument
  /// (kBadOption) if there are not as many workers as ranks.
  Plan(ReductionPlan plan, Group& group);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// Which tensor goes into which pack, by which algorithm, why, at what cost.
  const ReductionPlan& explain() const;

  /// Those whose gradients this process gives.
  int replica_count() const;
  std::size_t tensor_count() const { return explain().request.tensors.size(); }
  ResultBuffers buffers() const;

  /// That of the tensor, except for means of integers.
  DType result_dtype(std::size_t tensor) const;

  /// Reduces inputs[replica * tensor_count() + tensor] into outputs[tensor], or with separate
  /// buffers into outputs[replica * tensor_count() + tensor]. An output may be an input's memory if
  /// it is the same replica's same tensor. One run at a time. Allocates nothing and plans nothing.
  /// Throws InvalidArgument if something has another dtype or shape than was planned and has
  /// written nothing then; DeadlineExceeded if it takes longer than `timeout`, with outputs that
  /// are not whole.
  void run(std::span<const Tensor> inputs, std::span<const TensorView> outputs,
           std::optional<std::chrono::duration<double>> timeout = std::nullopt);

  /// The same for tensors that are not in one list.
  void run(std::span<const Tensor* const> inputs, std::span<const TensorView> outputs,
           std::optional<std::chrono::duration<double>> timeout = std::nullopt);

  /// The same for gradients that come one by one, and may be sparse: outputs as above, where those
  /// of sparse tensors are not looked at. One at a time: throws InvalidArgument (kBadOption) while
  /// another is under way. The plan must outlive it.
  Reduction start(std::span<const TensorView> outputs, const ReductionOptions& options = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fanin
