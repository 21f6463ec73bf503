#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "fanin/buffer.h"
#include "fanin/device.h"
#include "fanin/dtype.h"
#include "fanin/shape.h"

namespace fanin {

/// A shared, read-only handle to contiguous, row-major elements of one type on one device.
/// Copying it copies the handle. The bytes may have any alignment.
class Tensor {
 public:
  /// A float32 tensor of no elements.
  Tensor();

  /// Takes over a buffer that has been filled. Throws InvalidArgument (kShapeMismatch) unless its
  /// size is that of the elements.
  Tensor(Buffer buffer, DType dtype, Shape shape, Device device = {});

  /// Borrows the caller's memory, which must stay alive and unchanged as long as any copy of the
  /// handle. Throws InvalidArgument (kShapeMismatch) unless the size is that of the elements.
  static Tensor view(std::span<const std::byte> bytes, DType dtype, Shape shape,
                     Device device = {});

  template <Element T>
  static Tensor view(std::span<const T> elements, Shape shape, Device device = {}) {
    return view(std::as_bytes(elements), dtype_of<T>, std::move(shape), std::move(device));
  }

  /// Copies elements into memory of the tensor's own.
  template <Element T>
  static Tensor of(std::span<const T> elements, Shape shape, Device device = {}) {
    return copy(std::as_bytes(elements), dtype_of<T>, std::move(shape), std::move(device));
  }
  template <Element T>
  static Tensor of(std::initializer_list<T> elements, Shape shape, Device device = {}) {
    return of(std::span<const T>(elements.begin(), elements.size()), std::move(shape),
              std::move(device));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Device& device() const { return device_; }
  std::size_t element_count() const { return shape_.element_count(); }
  std::span<const std::byte> bytes() const { return {data_.get(), byte_count_}; }

  /// The elements, copied out. Throws InvalidArgument (kDtypeMismatch) if T is not the dtype's.
  template <Element T>
  std::vector<T> to_vector() const {
    check_dtype(dtype_of<T>);
    std::vector<T> elements(element_count());
    if (!elements.empty()) std::memcpy(elements.data(), data_.get(), byte_count_);
    return elements;
  }

  /// The same elements in another shape, without a copy. Throws InvalidArgument (kShapeMismatch)
  /// if the counts differ.
  Tensor reshaped(Shape shape) const;

  /// The same elements, said to live on another device, without a copy.
  Tensor on(Device device) const;

 private:
  Tensor(std::shared_ptr<const std::byte> data, std::size_t byte_count, DType dtype, Shape shape,
         Device device);
  static Tensor copy(std::span<const std::byte> bytes, DType dtype, Shape shape, Device device);
  void check_dtype(DType wanted) const;

  std::shared_ptr<const std::byte> data_;
  std::size_t byte_count_ = 0;
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  Device device_;
};

/// A writable place for a result. Owns nothing: the caller keeps the memory alive and unmoved as
/// long as the view is in use. The bytes may have any alignment.
struct TensorView {
  std::span<std::byte> bytes;
  DType dtype = DType::kFloat32;
  Shape shape;

  /// Elements of any C++ type that has a DType.
  template <Element T>
  static TensorView over(std::span<T> elements, Shape shape) {
    return {std::as_writable_bytes(elements), dtype_of<T>, std::move(shape)};
  }
};

}  // namespace fanin
