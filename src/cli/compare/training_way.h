#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/train_options.h"

namespace fanin::cli {

/// A way to train: how the terms of one gradient are summed, and how packs are all-reduced.
struct TrainingWay {
  std::string label;  ///< what is special about it: "TREE", "nccl/xring"
  AggregationMethod method = training::TrainOptions().method;
  AllReduceSpec spec = training::TrainOptions().spec;
};

/// The ways with these methods and the usual spec, and those with these specs and the usual method;
/// each once. Names stand between commas. If both are missing, it is all methods and the specs
/// that are known; if one is, only the other counts. Throws InvalidArgument as
/// parse_aggregation_method() and AllReduceSpec do, and (kBadOption) for a single way.
std::vector<TrainingWay> training_ways(const std::optional<std::string>& methods,
                                       const std::optional<std::string>& specs);

/// What training_ways() takes unless told.
inline constexpr std::string_view kUsualMethods = "add_n,tree,accumulate_n";
inline constexpr std::string_view kUsualSpecs =
    "nccl,xring,rechd,pscpu,psgpu,nccl/xring,pscpu/pscpu#2";

}  // namespace fanin::cli
