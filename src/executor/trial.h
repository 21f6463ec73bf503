#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/memory_plan.h"

namespace fanin {

/// The arithmetic of a goal: goals that only move data copy bits, whatever they mean.
Arithmetic arithmetic_for(Goal goal, ReduceOp op, DType dtype, Accumulation accumulation,
                          int rank_count);

/// A layout for the schedule's goal: even chunks, or parts that are as even as can be.
Layout layout_for(const Schedule& schedule, std::size_t element_count, std::size_t element_bytes);

/// A schedule on made-up data whose answer is known: small whole numbers, which every dtype holds
/// and whose sums are exact in any order.
class Trial {
 public:
  struct Options {
    std::size_t element_count = 0;  ///< of the whole data, all parts together
    DType dtype = DType::kFloat32;
    ReduceOp op = ReduceOp::kSum;
    Outputs outputs = Outputs::kSeparate;
    Lowering lowering = Lowering::kFused;
  };

  /// Proves and binds the schedule, as MemoryPlan does.
  Trial(const Schedule& schedule, const Options& options, Context& context);

  void run(const RunLimits& limits = {}) { plan_.run(inputs_, outputs_, limits); }

  /// A sentence on the first element that is wrong, in a rank's output or in an input that should
  /// not have been written; nothing if all are right.
  std::optional<std::string> find_wrong() const;

  /// What all ranks give, and get.
  std::size_t input_bytes() const;
  std::size_t output_bytes() const;

 private:
  std::optional<std::string> find_wrong_output(int rank) const;
  std::optional<std::string> find_wrong_input(int rank) const;
  void fill_inputs();

  Schedule schedule_;
  Options options_;
  Arithmetic arithmetic_;
  Layout layout_;
  MemoryPlan plan_;
  std::vector<Buffer> input_buffers_, output_buffers_;  // by rank; empty for who has none
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
};

}  // namespace fanin
