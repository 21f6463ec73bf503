#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fanin/group.h"
#include "fanin/plan.h"

namespace bench {

/// The gradients of a model in memory that the group allocated, where their sums are put too.
class GradientList {
 public:
  GradientList(fanin::Group& group, const std::vector<std::size_t>& counts);

  std::size_t size() const { return spans_.size(); }
  std::size_t byte_count() const;
  std::span<const std::span<float>> spans() const { return spans_; }
  const fanin::Tensor& gradient(std::size_t index) const { return gradients_[index]; }
  std::span<const fanin::TensorView> outputs() const { return outputs_; }

  /// Which share of a backward pass is done with this gradient: it goes from the last to the first,
  /// and takes as long for each as it has elements.
  double share_with(std::size_t index) const { return shares_[index]; }

  /// How the group sums them; bytes_per_pack 0 is all at once.
  fanin::ReductionPlan plan(const fanin::Group& group, std::int64_t bytes_per_pack) const;

 private:
  fanin::Buffer buffer_;
  std::vector<std::span<float>> spans_;
  std::vector<fanin::Tensor> gradients_;
  std::vector<fanin::TensorView> outputs_;
  std::vector<double> shares_;
};

}  // namespace bench
