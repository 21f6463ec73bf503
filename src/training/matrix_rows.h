#pragma once

// What layers do to matrices besides products.

#include <algorithm>
#include <cstddef>
#include <span>

#include "fanin/shape.h"
#include "kernels/matmul.h"

namespace fanin::training {

inline Matrix columns(const Matrix& matrix, std::size_t begin, std::size_t count) {
  return {matrix.data + begin, matrix.row_count, count, matrix.stride};
}

inline std::span<float> row(const Matrix& matrix, std::size_t index) {
  return {matrix.data + index * matrix.stride, matrix.column_count};
}

inline Matrix to_matrix(std::span<float> numbers, const Shape& shape) {
  const auto column_count = static_cast<std::size_t>(shape[1]);
  return {numbers.data(), static_cast<std::size_t>(shape[0]), column_count, column_count};
}

inline void cut_negative(const Matrix& y) {
  for (std::size_t r = 0; r < y.row_count; ++r)
    for (float& each : row(y, r)) each = std::max(each, 0.0F);
}

/// What was cut off in y has no gradient.
inline void cut_gradient(const Matrix& y, const Matrix& dy) {
  for (std::size_t r = 0; r < y.row_count; ++r)
    for (std::size_t c = 0; c < y.column_count; ++c)
      if (row(y, r)[c] <= 0) row(dy, r)[c] = 0;
}

/// The gradient of a bias.
inline void sum_rows(const Matrix& dy, std::span<float> to) {
  std::ranges::fill(to, 0.0F);
  for (std::size_t r = 0; r < dy.row_count; ++r)
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += row(dy, r)[c];
}

}  // namespace fanin::training
