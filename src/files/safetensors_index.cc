#include "files/safetensors_index.h"

#include "core/require.h"
#include "files/quote_name.h"

namespace fanin {

SafetensorsIndex::SafetensorsIndex(std::span<const SafetensorsEntry> entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) positions_.emplace(entries[i].name, i);
}

std::size_t SafetensorsIndex::position(std::string_view name) const {
  const auto found = positions_.find(name);
  require(found != positions_.end(), ErrorKind::kBadFile, "has no tensor {}", quote_name(name));
  return found->second;
}

}  // namespace fanin
