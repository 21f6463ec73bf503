#pragma once

// For tests: a network's parameters and gradients in plain memory.

#include <utility>
#include <variant>
#include <vector>

#include "fanin/indexed_slices.h"
#include "training/digits_parameters.h"

namespace fanin::training {

/// Tensors for all parameters of a network.
class TestTensors {
 public:
  explicit TestTensors(std::int64_t width) {
    for (const ParameterInfo& info : digits_parameters(width)) {
      numbers_.emplace_back(info.shape.element_count());
      views_.push_back(TensorView::over<float>(numbers_.back(), info.shape));
    }
  }
  std::vector<float>& operator[](std::size_t parameter) { return numbers_[parameter]; }
  const std::vector<std::vector<float>>& numbers() const { return numbers_; }
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<std::vector<float>> numbers_;
  std::vector<TensorView> views_;
};

/// Any gradient of these, as the dense one.
inline std::vector<float> to_dense(const Value& gradient) {
  if (const auto* const dense = std::get_if<Tensor>(&gradient)) return dense->to_vector<float>();
  const auto& sparse = std::get<IndexedSlices>(gradient);
  std::vector<float> numbers(sparse.dense_shape->element_count());
  const auto values = sparse.values.to_vector<float>();
  const auto indices = sparse.indices.to_vector<std::int32_t>();
  const std::size_t row_size = values.size() / indices.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    numbers[static_cast<std::size_t>(indices[i / row_size]) * row_size + i % row_size] += values[i];
  return numbers;
}

}  // namespace fanin::training
