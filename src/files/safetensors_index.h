#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "files/safetensors_header.h"

namespace fanin {

/// Finds the entries of one file by name.
class SafetensorsIndex {
 public:
  SafetensorsIndex() = default;
  explicit SafetensorsIndex(std::span<const SafetensorsEntry> entries);

  bool contains(std::string_view name) const { return positions_.contains(name); }

  /// Its position among the entries. Throws InvalidArgument (kBadFile) with a sentence that has the
  /// file as its subject if there is no such tensor.
  std::size_t position(std::string_view name) const;

 private:
  std::map<std::string, std::size_t, std::less<>> positions_;
};

}  // namespace fanin
