#include "files/safetensors_reader.h"

#include <algorithm>

#include "core/require.h"
#include "files/quote_name.h"
#include "files/with_path.h"

namespace fanin {
namespace {

/// The bytes of the header, or as many as there are.
std::vector<std::byte> read_header(const File& file) {
  std::vector<std::byte> bytes(kSafetensorsPrefixBytes);
  bytes.resize(file.read(bytes, 0));
  // Not more than there is: a damaged length must not make us allocate.
  bytes.resize(std::min(safetensors_header_size(bytes), file.size()));
  bytes.resize(file.read(bytes, 0));
  return bytes;
}

void check_data_size(std::size_t expected, std::size_t found) {
  require(found >= expected, ErrorKind::kBadFile,
          "is cut off: its tensors have {} bytes of data, found {}", expected, found);
  require(found == expected, ErrorKind::kBadFile,
          "has {} bytes after its data, which belong to no tensor", found - expected);
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path)
    : file_(File::open_to_read(path)) {
  with_path(path, [&] {
    const std::vector<std::byte> bytes = read_header(file_);
    header_ = parse_safetensors_header(bytes);
    data_offset_ = bytes.size();
    check_data_size(header_.data_byte_count(), file_.size() - data_offset_);
  });
  index_ = SafetensorsIndex(header_.entries);
}

const SafetensorsEntry& SafetensorsReader::entry(std::string_view name) const {
  return header_.entries[with_path(path(), [&] { return index_.position(name); })];
}

Tensor SafetensorsReader::read_tensor(std::string_view name, Context& context,
                                      const OnBytes& on_bytes) const {
  const SafetensorsEntry& found = entry(name);
  Buffer buffer = context.buffers().allocate(found.byte_count());
  file_.read_exactly(buffer.bytes(), data_offset_ + found.offset, on_bytes);
  return Tensor(std::move(buffer), found.dtype, found.shape);
}

void SafetensorsReader::read_bytes(std::string_view name, std::size_t offset,
                                   std::span<std::byte> bytes) const {
  const SafetensorsEntry& found = entry(name);
  const std::size_t size = found.byte_count();
  require(offset <= size && bytes.size() <= size - offset, ErrorKind::kIndexOutOfRange,
          "tensor {} of {} has {} bytes; {} bytes from byte {} on are not within", quote_name(name),
          path().string(), size, bytes.size(), offset);
  file_.read_exactly(bytes, data_offset_ + found.offset + offset);
}

}  // namespace fanin
