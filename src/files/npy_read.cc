#include <vector>

#include "core/require.h"
#include "files/file.h"
#include "files/npy.h"
#include "files/with_path.h"

namespace fanin {
namespace {

struct Opened {
  File file;
  NpyHeader header;
  std::size_t data_offset;
};

Opened open_npy(const std::filesystem::path& path) {
  File file = File::open_to_read(path);
  std::vector<std::byte> bytes(kNpyPrefixBytes);
  bytes.resize(file.read(bytes, 0));
  return with_path(path, [&]() -> Opened {
    const std::size_t size = npy_header_size(bytes);
    bytes.resize(size);
    bytes.resize(file.read(bytes, 0));
    NpyHeader header = parse_npy_header(bytes);
    return {std::move(file), std::move(header), size};
  });
}

Shape reversed(const Shape& shape) {
  return Shape(std::vector<std::int64_t>(shape.dims().rbegin(), shape.dims().rend()));
}

}  // namespace

Shape NpyArray::shape() const { return is_transposed ? reversed(tensor.shape()) : tensor.shape(); }

NpyHeader read_npy_header(const std::filesystem::path& path) { return open_npy(path).header; }

NpyArray read_npy(const std::filesystem::path& path, Context& context, const OnBytes& on_bytes) {
  const auto [file, header, data_offset] = open_npy(path);
  const std::size_t expected = header.shape.element_count() * size_of(header.dtype);
  const std::size_t found = file.size() - data_offset;
  require(found >= expected, ErrorKind::kBadFile,
          "{} is cut off: a {} array of shape {} has {} bytes of data, found {}", path.string(),
          name(header.dtype), to_string(header.shape), expected, found);
  require(found == expected, ErrorKind::kBadFile,
          "{} has {} bytes after its data; one file holds one array", path.string(),
          found - expected);

  Buffer buffer = context.buffers().allocate(expected);
  file.read_exactly(buffer.bytes(), data_offset, on_bytes);
  // One extent, or none, is the same in both orders.
  const bool is_transposed = header.fortran_order && header.shape.rank() > 1;
  return {Tensor(std::move(buffer), header.dtype,
                 is_transposed ? reversed(header.shape) : header.shape),
          is_transposed};
}

}  // namespace fanin
