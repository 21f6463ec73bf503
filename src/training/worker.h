#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "fanin/group.h"
#include "fanin/plan.h"
#include "training/digits_model.h"
#include "training/train_options.h"

namespace fanin::training {

/// Where the time of some steps has gone, on one worker.
struct StepTimes {
  std::chrono::nanoseconds whole = {};
  std::chrono::nanoseconds computing = {};  ///< forward and backward, until all replicas are done
  std::chrono::nanoseconds reducing = {};   ///< packs under way
  std::chrono::nanoseconds updating = {};   ///< optimizer
  std::chrono::nanoseconds waiting = {};    ///< for packs, after the backward pass
  int step_count = 0;

  void add(const StepTimes& other);

  /// The share of the reductions that was hidden behind other work: 0 to 1.
  double overlap() const;
};

/// One worker of a data-parallel training: its replicas, which share its parameters, and what it
/// does together with the other workers of a group. All workers make the same calls.
class Worker {
 public:
  /// The group's ranks are the workers, and it must outlive this. The options have been checked.
  Worker(Group& group, const Digits& digits, const TrainOptions& options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  struct Step {
    Score score;  ///< of this worker's images
    StepTimes times;
  };
  /// Learns from one batch, of which each replica takes its part.
  Step step(std::span<const std::size_t> images, std::int64_t number);

  /// The images are dealt to the workers; the score is of all.
  Score evaluate(std::span<const std::size_t> images);
  /// The scores of all workers together.
  Score sum(const Score& mine);

  /// The hash of the parameters, if they are equal on all workers; throws as require_equal().
  std::uint64_t check_equal();

  const ReductionPlan& plan() const;

  /// Memory that all ranks see, which no BufferPool counts.
  std::size_t registered_bytes() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fanin::training
