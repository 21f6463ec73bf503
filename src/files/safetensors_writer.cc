#include "files/safetensors_writer.h"

#include "core/require.h"
#include "files/quote_name.h"
#include "files/with_path.h"

namespace fanin {

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::vector<SafetensorsEntry> entries,
                                     SafetensorsMetadata metadata)
    : path_(path),
      header_(with_path(
          path, [&] { return lay_out_safetensors(std::move(entries), std::move(metadata)); })),
      index_(header_.entries),
      written_bytes_(header_.entries.size(), 0),
      file_(path) {
  const std::string bytes = with_path(path, [&] { return make_safetensors_header(header_); });
  file_.write(std::as_bytes(std::span(bytes)), 0);
  data_offset_ = bytes.size();
}

std::size_t SafetensorsWriter::position(std::string_view name) const {
  return with_path(path_, [&] { return index_.position(name); });
}

void SafetensorsWriter::write_bytes(std::string_view name, std::span<const std::byte> bytes,
                                    const OnBytes& on_bytes) {
  const std::size_t at = position(name);
  const SafetensorsEntry& entry = header_.entries[at];
  std::size_t& written = written_bytes_[at];
  require(bytes.size() <= entry.byte_count() - written, ErrorKind::kIndexOutOfRange,
          "tensor {} of {} has {} bytes, and {} of them are written; {} more do not fit",
          quote_name(name), path_.string(), entry.byte_count(), written, bytes.size());
  file_.write(bytes, data_offset_ + entry.offset + written, on_bytes);
  written += bytes.size();
}

void SafetensorsWriter::write_tensor(std::string_view name, const Tensor& tensor,
                                     const OnBytes& on_bytes) {
  const SafetensorsEntry& entry = header_.entries[position(name)];
  require(tensor.dtype() == entry.dtype, ErrorKind::kDtypeMismatch,
          "tensor {} of {} is declared as {}, not as {}", quote_name(name), path_.string(),
          fanin::name(entry.dtype), fanin::name(tensor.dtype()));
  require(tensor.shape() == entry.shape, ErrorKind::kShapeMismatch,
          "tensor {} of {} is declared with shape {}, not with {}", quote_name(name),
          path_.string(), to_string(entry.shape), to_string(tensor.shape()));
  write_bytes(name, tensor.bytes(), on_bytes);
}

void SafetensorsWriter::commit() {
  for (std::size_t i = 0; i < header_.entries.size(); ++i) {
    const SafetensorsEntry& entry = header_.entries[i];
    require(written_bytes_[i] == entry.byte_count(), ErrorKind::kBadFile,
            "{} is not complete: tensor {} has {} of its {} bytes; write all before commit()",
            path_.string(), quote_name(entry.name), written_bytes_[i], entry.byte_count());
  }
  file_.commit();
}

}  // namespace fanin
