#pragma once

#include <vector>

#include "fanin/add_n.h"
#include "limit.h"

namespace bench {

inline fanin::DType dtype_of(Type type) {
  switch (type) {
    case Type::kFloat64:
      return fanin::DType::kFloat64;
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
  explicit FaninSum(const Sum& sum) {
    const fanin::DType dtype = dtype_of(sum.type);
    const fanin::Shape shape{static_cast<std::int64_t>(sum.bytes / fanin::size_of(dtype))};
    for (const std::byte* source : sum.sources)
      terms_.push_back(fanin::Tensor::view({source, sum.bytes}, dtype, shape));
    out_ = {{sum.targets.front(), sum.bytes}, dtype, shape};
  }

  const std::vector<fanin::Tensor>& terms() const { return terms_; }

  void run() const { fanin::add_n(terms_, out_); }

 private:
  std::vector<fanin::Tensor> terms_;
  fanin::TensorView out_;
};

}  // namespace bench
