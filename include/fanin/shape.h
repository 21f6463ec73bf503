#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace fanin {

/// The extents of a tensor, row-major. An empty shape is a scalar's and has one element.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims);

  /// Throws InvalidArgument (kShapeMismatch) if a dimension is negative, or if there are more
  /// elements than memory can address.
  explicit Shape(std::vector<std::int64_t> dims);

  std::size_t rank() const { return dims_.size(); }
  std::int64_t operator[](std::size_t axis) const { return dims_[axis]; }
  std::span<const std::int64_t> dims() const { return dims_; }
  std::size_t element_count() const { return element_count_; }

  friend bool operator==(const Shape& a, const Shape& b) {
    // Shapes of one dimension, as those of most gradients that travel, are known by their counts.
    return a.element_count_ == b.element_count_ && a.rank() == b.rank() &&
           (a.rank() <= 1 || a.dims_ == b.dims_);
  }

 private:
  std::vector<std::int64_t> dims_;
  std::size_t element_count_ = 1;
};

/// "[2,3]", as in error messages.
std::string to_string(const Shape& shape);

}  // namespace fanin
