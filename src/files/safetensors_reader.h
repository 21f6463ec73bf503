#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "fanin/context.h"
#include "fanin/tensor.h"
#include "files/file.h"
#include "files/safetensors_index.h"

namespace fanin {

/// An open .safetensors file. Opening reads the header and checks that it fits the file; data are
/// read when they are asked for. All functions may be called from any thread. They throw
/// InvalidArgument (kBadFile) with a sentence that names the file if it is missing, damaged, or has
/// no such tensor, and Unavailable if the system fails to read it.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }

  /// The tensors, in the order of their data: who reads them so reads the file once through.
  const std::vector<SafetensorsEntry>& entries() const { return header_.entries; }
  const SafetensorsMetadata& metadata() const { return header_.metadata; }

  bool contains(std::string_view name) const { return index_.contains(name); }
  const SafetensorsEntry& entry(std::string_view name) const;

  /// A whole tensor, in memory of the context's.
  Tensor read_tensor(std::string_view name, Context& context,
                     const OnBytes& on_bytes = nullptr) const;

  /// Fills `bytes` from a tensor's own, beginning `offset` bytes into them. Throws InvalidArgument
  /// (kIndexOutOfRange) if the tensor does not have so many.
  void read_bytes(std::string_view name, std::size_t offset, std::span<std::byte> bytes) const;

 private:
  File file_;
  SafetensorsHeader header_;
  std::size_t data_offset_ = 0;
  SafetensorsIndex index_;
};

}  // namespace fanin
