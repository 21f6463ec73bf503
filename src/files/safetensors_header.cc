// The header of a .safetensors file: the length of a JSON text in 8 bytes, then the text.

#include "files/safetensors_header.h"

#include <cstdint>

#include "core/require.h"
#include "files/safetensors_check.h"
#include "files/safetensors_json.h"

namespace fanin {
namespace {

// The reference implementation's limit.
constexpr std::size_t kMostJsonBytes = 100'000'000;

}  // namespace

std::size_t safetensors_header_size(std::span<const std::byte> prefix) {
  require(!prefix.empty(), ErrorKind::kBadFile, "is empty, not a .safetensors file");
  require(prefix.size() >= kSafetensorsPrefixBytes, ErrorKind::kBadFile,
          "is cut off within its header: expected at least {} bytes, found {}",
          kSafetensorsPrefixBytes, prefix.size());
  std::uint64_t length = 0;  // little-endian
  for (std::size_t i = kSafetensorsPrefixBytes; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(prefix[i]);
  require(length <= kMostJsonBytes, ErrorKind::kBadFile,
          "is not a .safetensors file, or damaged: its first 8 bytes announce a header of {} "
          "bytes; at most {} are allowed",
          length, kMostJsonBytes);
  return kSafetensorsPrefixBytes + length;
}

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes) {
  const std::size_t size = safetensors_header_size(bytes);
  require(bytes.size() >= size, ErrorKind::kBadFile,
          "is cut off within its header: expected {} bytes, found {}", size, bytes.size());
  SafetensorsJson json =
      parse_safetensors_json({reinterpret_cast<const char*>(bytes.data()) + kSafetensorsPrefixBytes,
                              size - kSafetensorsPrefixBytes});
  return {check_safetensors(json.tensors), std::move(json.metadata)};
}

std::string make_safetensors_header(const SafetensorsHeader& header) {
  std::string json = make_safetensors_json(header);
  json.resize((json.size() + 7) / 8 * 8, ' ');
  require(json.size() <= kMostJsonBytes, ErrorKind::kBadFile,
          "cannot hold {} tensors and their metadata: the header has {} bytes, at most {} are "
          "allowed",
          header.entries.size(), json.size(), kMostJsonBytes);
  std::string bytes;
  for (std::size_t i = 0; i < kSafetensorsPrefixBytes; ++i)
    bytes += static_cast<char>(json.size() >> (8 * i) & 0xffU);
  return bytes + json;
}

}  // namespace fanin
