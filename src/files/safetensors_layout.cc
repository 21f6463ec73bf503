#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "core/require.h"
#include "files/quote_name.h"
#include "files/safetensors_dtype.h"
#include "files/safetensors_header.h"
#include "files/safetensors_json.h"

namespace fanin {
namespace {

void check_names(const std::vector<SafetensorsEntry>& entries) {
  std::unordered_set<std::string_view> names;
  for (const SafetensorsEntry& entry : entries) {
    require(entry.name != kSafetensorsMetadataKey, ErrorKind::kBadFile,
            "cannot hold a tensor with the name {}, which is the metadata's",
            quote_name(entry.name));
    require(names.insert(entry.name).second, ErrorKind::kBadFile,
            "cannot hold two tensors with the name {}", quote_name(entry.name));
  }
}

bool comes_first(const SafetensorsEntry& a, const SafetensorsEntry& b) {
  const std::size_t place_of_a = safetensors_place(a.dtype);
  const std::size_t place_of_b = safetensors_place(b.dtype);
  return place_of_a != place_of_b ? place_of_a > place_of_b : a.name < b.name;
}

}  // namespace

SafetensorsHeader lay_out_safetensors(std::vector<SafetensorsEntry> entries,
                                      SafetensorsMetadata metadata) {
  check_names(entries);
  std::ranges::sort(entries, comes_first);
  std::size_t end = 0;
  for (SafetensorsEntry& entry : entries) {
    require(entry.byte_count() <= std::numeric_limits<std::size_t>::max() - end,
            ErrorKind::kBadFile, "cannot hold tensors with more than {} bytes of data",
            std::numeric_limits<std::size_t>::max());
    entry.offset = end;
    end += entry.byte_count();
  }
  return {std::move(entries), std::move(metadata)};
}

}  // namespace fanin
