#include "fanin/tensor.h"

#include <utility>

#include "core/require.h"
#include "fanin/context.h"

namespace fanin {

Tensor::Tensor() : shape_({0}) {}

Tensor::Tensor(std::shared_ptr<const std::byte> data, std::size_t byte_count, DType dtype,
               Shape shape, Device device)
    : data_(std::move(data)),
      byte_count_(byte_count),
      dtype_(dtype),
      shape_(std::move(shape)),
      device_(std::move(device)) {
  const std::size_t needed = shape_.element_count() * size_of(dtype_);
  if (byte_count_ == needed) return;
  throw InvalidArgument(
      ErrorKind::kShapeMismatch,
      fmt::format("{} bytes were given for a {} tensor of shape {}, which has {} bytes",
                  byte_count_, name(dtype_), to_string(shape_), needed));
}

// By value: whoever calls it hands the buffer over.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Tensor::Tensor(Buffer buffer, DType dtype, Shape shape, Device device)
    : Tensor(buffer.handle(), buffer.size(), dtype, std::move(shape), std::move(device)) {}

Tensor Tensor::view(std::span<const std::byte> bytes, DType dtype, Shape shape, Device device) {
  // An owner that owns nothing: the aliasing constructor, without a control block.
  std::shared_ptr<const std::byte> borrowed(std::shared_ptr<const std::byte>(), bytes.data());
  return {std::move(borrowed), bytes.size(), dtype, std::move(shape), std::move(device)};
}

Tensor Tensor::copy(std::span<const std::byte> bytes, DType dtype, Shape shape, Device device) {
  Buffer buffer = Context::process().buffers().allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.bytes().data(), bytes.data(), bytes.size());
  return {std::move(buffer), dtype, std::move(shape), std::move(device)};
}

void Tensor::check_dtype(DType wanted) const {
  require(dtype_ == wanted, ErrorKind::kDtypeMismatch, "a {} tensor was read as {}", name(dtype_),
          name(wanted));
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.element_count() != element_count())
    throw InvalidArgument(
        ErrorKind::kShapeMismatch,
        fmt::format("a tensor of shape {} has {} elements and cannot take shape {}, which has {}",
                    to_string(shape_), element_count(), to_string(shape), shape.element_count()));
  return {data_, byte_count_, dtype_, std::move(shape), device_};
}

Tensor Tensor::on(Device device) const {
  return {data_, byte_count_, dtype_, shape_, std::move(device)};
}

}  // namespace fanin
