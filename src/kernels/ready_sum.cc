#include "kernels/ready_sum.h"

namespace fanin {

std::optional<ReadySum> ReadySum::of(const Arithmetic& arithmetic, std::size_t source_count,
                                     std::size_t target_count) {
  const bool is_sum = arithmetic.op == ReduceOp::kSum || arithmetic.op == ReduceOp::kMean;
  const bool is_one_pass = is_floating(arithmetic.input) && is_sum &&
                           !arithmetic.rounds_each_step && !arithmetic.is_exact &&
                           source_count >= 1 && source_count <= kMostChainedSources &&
                           target_count >= 1 && target_count <= kMostPassTargets;
  if (!is_one_pass) return std::nullopt;
  ReadySum sum;
  sum.pass_.source_count = source_count;
  sum.pass_.target_count = target_count;
  sum.pass_.divisor = static_cast<double>(arithmetic.divisor);
  sum.run_pass_ = runner_for(arithmetic.input);
  return sum;
}

}  // namespace fanin
