#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fanin/group.h"
#include "fanin/reduction_plan.h"
#include "training/digits_model.h"
#include "training/train_options.h"
#include "training/worker.h"

namespace fanin::training {

/// What one epoch has brought, of all workers together; the times are of this worker.
struct Epoch {
  Score train;
  Score test;
  StepTimes times;
};

struct TrainReport {
  std::vector<Epoch> epochs;
  ReductionPlan plan;
  std::string transport;         ///< of the group
  int batch_size = 0;            ///< of all replicas together
  std::uint64_t final_hash = 0;  ///< of the parameters, equal on all workers
  std::size_t peak_bytes = 0;    ///< of this process's buffers while it trained
  double seconds = 0;            ///< the whole of it

  StepTimes times() const;  ///< of all epochs
};

/// Tells how far it is: called after each step on worker 0, with the steps that will be in all.
struct StepNews {
  int epoch = 0;
  int step = 0;
  int step_count = 0;
  Score score;
  StepTimes times;
};
using OnStep = std::function<void(const StepNews&)>;

/// Trains as one worker of a group: a call for all its ranks, with the same options, whose
/// worker_count is the group's size. For a seed and a plan the parameters have the same bits at the
/// end, whatever carries the group. Throws InvalidArgument as check(), and what Group throws;
/// PeerFailure if the workers' parameters are no longer equal after an epoch.
TrainReport train(Group& group, const Digits& digits, const TrainOptions& options,
                  const OnStep& on_step = {});

/// The same with a thread of this process for each worker.
TrainReport train_in_threads(const Digits& digits, const TrainOptions& options,
                             const OnStep& on_step = {});

}  // namespace fanin::training
