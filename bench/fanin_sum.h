#pragma once

#include <vector>

#include "fanin/context.h"
#include "fanin/dtype.h"
#include "kernels/parallel_fold.h"
#include "limit.h"

namespace bench {

inline fanin::DType dtype_of(Type type) {
  switch (type) {
    case Type::kFloat16:
      return fanin::DType::kFloat16;
    case Type::kBFloat16:
      return fanin::DType::kBFloat16;
    default:
      return fanin::DType::kFloat32;
  }
}

/// A sum as Fanin's caller has it: made once, run often.
class FaninSum {
 public:
  explicit FaninSum(const Sum& sum)
      : arithmetic_(fanin::make_arithmetic(fanin::ReduceOp::kSum, dtype_of(sum.type),
                                           fanin::Accumulation::kWide, 1)),
        target_(sum.target),
        count_(sum.bytes / fanin::size_of(dtype_of(sum.type))) {
    for (const std::byte* source : sum.sources) sources_.push_back({source});
  }

  void run() {
    fanin::parallel_fold(fanin::Context::process(), arithmetic_,
                         {.sources = sources_,
                          .group_sizes = fanin::add_n_groups(sources_.size()),
                          .targets = {&target_, 1},
                          .count = count_});
  }

 private:
  fanin::Arithmetic arithmetic_;
  std::vector<fanin::Operand> sources_;
  std::byte* target_;
  std::size_t count_;
};

}  // namespace bench
