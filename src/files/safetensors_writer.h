#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "fanin/tensor.h"
#include "files/safetensors_index.h"
#include "files/whole_file.h"

namespace fanin {

/// Writes a .safetensors file, whole or not at all: it appears at commit(), as a WholeFile. All
/// tensors are declared at first; their data may come in any order, and in blocks, so that no
/// tensor has to be in memory as a whole.
class SafetensorsWriter {
 public:
  /// Offsets in `entries` do not matter. Throws InvalidArgument (kBadFile) with a sentence that
  /// names the file if a name is there twice, reserved or not UTF-8, or if the header becomes
  /// larger than readers allow; and as WholeFile does.
  explicit SafetensorsWriter(const std::filesystem::path& path,
                             std::vector<SafetensorsEntry> entries,
                             SafetensorsMetadata metadata = {});

  /// The tensors, in the order of their data: who writes them so writes the file once through.
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }

  /// Writes a tensor's next bytes, after those that it has. Throws InvalidArgument if they are more
  /// than it still lacks (kIndexOutOfRange), or if there is no such tensor (kBadFile), and
  /// Unavailable if the system fails.
  void write_bytes(std::string_view name, std::span<const std::byte> bytes,
                   const OnBytes& on_bytes = nullptr);

  /// Writes a whole tensor. Throws as write_bytes(), and InvalidArgument (kDtypeMismatch,
  /// kShapeMismatch) if it is not as declared.
  void write_tensor(std::string_view name, const Tensor& tensor, const OnBytes& on_bytes = nullptr);

  /// Once, at the end. Throws InvalidArgument (kBadFile) if a tensor lacks bytes, and Unavailable
  /// if the system fails; what was there before then stays.
  void commit();

 private:
  std::size_t position(std::string_view name) const;

  std::filesystem::path path_;
  SafetensorsHeader header_;
  SafetensorsIndex index_;
  std::vector<std::size_t> written_bytes_;  // of each entry
  std::size_t data_offset_ = 0;
  WholeFile file_;
};

}  // namespace fanin
