#pragma once

#include <cstdint>
#include <optional>

#include "fanin/aggregation_method.h"
#include "fanin/all_reduce_spec.h"
#include "fanin/optimizer.h"
#include "fanin/trace.h"

namespace fanin::training {

/// How the digits are learned.
struct TrainOptions {
  int worker_count = 4;
  int devices_per_worker = 2;
  AllReduceSpec spec = AllReduceSpec::Element{"pscpu/pscpu", 2, AllReduceSpec::kNoLimit};
  std::int64_t bytes_per_pack = std::int64_t{4} << 20;  ///< 0: measured and chosen by rank 0
  AggregationMethod method = AggregationMethod::kAuto;  ///< of the terms of one gradient
  OptimizerOptions optimizer = SgdOptions{.learning_rate = 0.05, .momentum = 0.9};
  int epoch_count = 12;
  int batch_size = 0;  ///< of all replicas together; 0: 64, less what they cannot share evenly
  int pass_count = 1;  ///< backward passes whose gradients are added up before a step
  std::optional<double> clip_norm = std::nullopt;
  std::uint64_t seed = 1;
  int width = 1024;      ///< of the hidden layers
  int thread_count = 0;  ///< of a worker, for its replicas; 0: one for each
  Trace* trace = nullptr;

  int replica_count() const { return worker_count * devices_per_worker; }
};

/// The batch size that is meant. Throws InvalidArgument (kBadOption) if something is out of range,
/// or if the replicas and passes cannot share a batch evenly.
int check(const TrainOptions& options, std::size_t image_count);

}  // namespace fanin::training
