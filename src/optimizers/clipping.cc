#include "fanin/clipping.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/require.h"
#include "kernels/elementwise.h"
#include "kernels/optimizer_kernels.h"
#include "optimizers/run_by_size.h"

namespace fanin {
namespace {

/// Squares are summed in blocks, and these one after the other, so that no thread changes the bits.
constexpr std::size_t kSquaresBlockElements = std::size_t{1} << 12;

double squares_of(std::span<const std::byte> gradient, Context& context) {
  const std::size_t element_count = gradient.size() / sizeof(float);
  const std::size_t block_count =
      (element_count + kSquaresBlockElements - 1) / kSquaresBlockElements;
  const auto block_sum = [&](std::size_t block) {
    const std::size_t begin = block * kSquaresBlockElements;
    return sum_of_squares(gradient.data() + begin * sizeof(float),
                          std::min(kSquaresBlockElements, element_count - begin));
  };
  double sum = 0;
  if (element_count <= kOneThreadElements) {
    for (std::size_t block = 0; block < block_count; ++block) sum += block_sum(block);
    return sum;
  }
  std::vector<double> sums(block_count);
  run_in_parts(context, block_count, [&](std::size_t begin, std::size_t count) {
    for (std::size_t block = begin; block < begin + count; ++block) sums[block] = block_sum(block);
  });
  for (const double each : sums) sum += each;
  return sum;
}

void check_dtype(std::size_t position, DType dtype) {
  require(dtype == DType::kFloat32, ErrorKind::kDtypeMismatch,
          "gradient {} is {}; norms are of float32", position, name(dtype));
}

void scale_all(std::span<std::byte> gradient, double factor, Context& context) {
  run_by_size(context, gradient.size() / sizeof(float), [&](std::size_t begin, std::size_t count) {
    std::byte* const at = gradient.data() + begin * sizeof(float);
    scale(DType::kFloat32, at, at, factor, count);
  });
}

}  // namespace

double global_norm(std::span<const Tensor> gradients, Context& context) {
  for (std::size_t i = 0; i < gradients.size(); ++i) check_dtype(i, gradients[i].dtype());
  double squares = 0;
  for (const Tensor& gradient : gradients) squares += squares_of(gradient.bytes(), context);
  return std::sqrt(squares);
}

double clip_by_global_norm(std::span<const TensorView> gradients, double max_norm,
                           Context& context) {
  require(max_norm > 0, ErrorKind::kBadOption, "max_norm must be above 0, got {}", max_norm);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    check_dtype(i, gradients[i].dtype);
    const std::size_t bytes = gradients[i].shape.element_count() * sizeof(float);
    if (gradients[i].bytes.size() != bytes)
      throw InvalidArgument(
          ErrorKind::kShapeMismatch,
          fmt::format("gradient {} has {} bytes, but its shape {} needs {}", i,
                      gradients[i].bytes.size(), to_string(gradients[i].shape), bytes));
  }
  double squares = 0;
  for (const TensorView& gradient : gradients) squares += squares_of(gradient.bytes, context);
  const double norm = std::sqrt(squares);
  const double factor = max_norm / (norm + 1e-6);
  if (!(factor >= 1))  // NaN too
    for (const TensorView& gradient : gradients) scale_all(gradient.bytes, factor, context);
  return norm;
}

}  // namespace fanin
