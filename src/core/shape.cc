#include "fanin/shape.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/require.h"

namespace fanin {
namespace {

/// The product, checked. A dimension of 0 makes it 0, however large the others are.
std::size_t count_elements(std::span<const std::int64_t> dims) {
  for (const std::int64_t dim : dims)
    require(dim >= 0, ErrorKind::kShapeMismatch, "shape [{}] has a negative dimension",
            fmt::join(dims, ","));
  if (std::ranges::find(dims, 0) != dims.end()) return 0;
  // So that a count times the size of a cell (at most 16 bytes) still fits.
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 32;
  std::size_t count = 1;
  for (const std::int64_t dim : dims) {
    require(count <= kMost / static_cast<std::size_t>(dim), ErrorKind::kShapeMismatch,
            "shape [{}] has more elements than memory can address", fmt::join(dims, ","));
    count *= static_cast<std::size_t>(dim);
  }
  return count;
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> dims) : Shape(std::vector<std::int64_t>(dims)) {}

Shape::Shape(std::vector<std::int64_t> dims)
    : dims_(std::move(dims)), element_count_(count_elements(dims_)) {}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.dims(), ","));
}

}  // namespace fanin
