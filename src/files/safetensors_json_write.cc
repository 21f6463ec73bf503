#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/require.h"
#include "files/quote_name.h"
#include "files/safetensors_dtype.h"
#include "files/safetensors_json.h"

namespace fanin {
namespace {

std::string json_string(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw InvalidArgument(ErrorKind::kBadFile,
                          fmt::format("cannot hold {}, which is not UTF-8", quote_name(text)));
  }
}

std::string json_metadata(const SafetensorsMetadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_string(key), json_string(value));
  return fmt::format("\"{}\":{{{}}}", kSafetensorsMetadataKey, text);
}

std::string json_entry(const SafetensorsEntry& entry) {
  return fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                     json_string(entry.name), safetensors_name(entry.dtype),
                     fmt::join(entry.shape.dims(), ","), entry.offset,
                     entry.offset + entry.byte_count());
}

}  // namespace

std::string make_safetensors_json(const SafetensorsHeader& header) {
  std::string text = "{";
  if (!header.metadata.empty()) text += json_metadata(header.metadata);
  for (const SafetensorsEntry& entry : header.entries) {
    if (text.size() > 1) text += ',';
    text += json_entry(entry);
  }
  return text + '}';
}

}  // namespace fanin
