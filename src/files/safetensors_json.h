#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/safetensors_header.h"

namespace fanin {

/// The key of the metadata among the names of the tensors.
inline constexpr std::string_view kSafetensorsMetadataKey = "__metadata__";

/// The header's JSON: values of the right kinds under the right names, not yet judged.
struct SafetensorsJson {
  struct Tensor {
    std::string name;
    std::string dtype;
    std::vector<std::uint64_t> shape;
    std::vector<std::uint64_t> data_offsets;
  };
  std::vector<Tensor> tensors;  ///< in the order of the text; names are unique
  SafetensorsMetadata metadata;
};

/// Throws InvalidArgument (kBadFile) with a sentence that has the file as its subject.
SafetensorsJson parse_safetensors_json(std::string_view text);

/// As the reference implementation writes it, without padding. Throws InvalidArgument (kBadFile)
/// with a sentence that has the file as its subject if a text is not UTF-8.
std::string make_safetensors_json(const SafetensorsHeader& header);

}  // namespace fanin
