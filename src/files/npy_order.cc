#include <cstring>
#include <vector>

#include "files/npy.h"

namespace fanin {

NpyArray to_row_major(const NpyArray& array, Context& context) {
  if (!array.is_transposed) return array;
  const Shape shape = array.shape();
  const std::size_t rank = shape.rank();
  const std::size_t size = size_of(array.tensor.dtype());
  Buffer buffer = context.buffers().allocate(array.tensor.bytes().size());
  const std::byte* source = array.tensor.bytes().data();
  std::byte* target = buffer.bytes().data();

  // Walks the result in order; the source's first extent is its fastest.
  std::vector<std::size_t> strides(rank);
  std::size_t stride = size;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(shape[axis]);
  }
  std::vector<std::int64_t> position(rank, 0);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < shape.element_count(); ++i) {
    std::memcpy(target + i * size, source + offset, size);
    for (std::size_t axis = rank; axis-- > 0;) {
      offset += strides[axis];
      if (++position[axis] < shape[axis]) break;
      offset -= strides[axis] * static_cast<std::size_t>(shape[axis]);
      position[axis] = 0;
    }
  }
  return {Tensor(std::move(buffer), array.tensor.dtype(), shape), false};
}

}  // namespace fanin
