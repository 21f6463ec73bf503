#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fanin/dtype.h"
#include "fanin/shape.h"

namespace fanin {

/// One tensor of a .safetensors file.
struct SafetensorsEntry {
  std::string name = {};
  DType dtype = DType::kFloat32;
  Shape shape = {};
  std::size_t offset = 0;  ///< where its bytes begin, counted from the end of the header

  std::size_t byte_count() const { return shape.element_count() * size_of(dtype); }

  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

using SafetensorsMetadata = std::map<std::string, std::string>;

/// What stands before the data of a .safetensors file.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries = {};  ///< in the order of their data, one after the other
  SafetensorsMetadata metadata = {};

  std::size_t data_byte_count() const {
    return entries.empty() ? 0 : entries.back().offset + entries.back().byte_count();
  }

  friend bool operator==(const SafetensorsHeader&, const SafetensorsHeader&) = default;
};

/// Enough of a file for safetensors_header_size().
inline constexpr std::size_t kSafetensorsPrefixBytes = 8;

/// The size of the header, which is where the data starts, from the first bytes of a file (fewer
/// than kSafetensorsPrefixBytes only if it has no more). Throws InvalidArgument (kBadFile) if they
/// cannot be those of a .safetensors file.
std::size_t safetensors_header_size(std::span<const std::byte> prefix);

/// Reads the header of which `bytes` are the beginning, or more. Throws InvalidArgument (kBadFile)
/// with a sentence that has the file as its subject unless names are unique, dtypes are ours, and
/// the data of the tensors neither overlap nor leave holes.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes);

/// Gives each tensor its place, as the reference implementation does: the widest dtypes first, and
/// by name within a dtype. Offsets that are given do not matter. Throws InvalidArgument (kBadFile)
/// with a sentence that has the file as its subject if a name is there twice or reserved.
SafetensorsHeader lay_out_safetensors(std::vector<SafetensorsEntry> entries,
                                      SafetensorsMetadata metadata = {});

/// The header as the reference implementation writes it, padded so that the data start at a
/// multiple of 8. Throws InvalidArgument (kBadFile) with a sentence that has the file as its
/// subject if a text is not UTF-8, or if the header becomes larger than readers allow.
std::string make_safetensors_header(const SafetensorsHeader& header);

}  // namespace fanin
