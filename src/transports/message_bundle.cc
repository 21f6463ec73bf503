#include "transports/message_bundle.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>

#include "transports/packed_number.h"

namespace fanin {
namespace {

// Before each message its rank and its size, which is this if it is the same as the last.
constexpr std::uint64_t kSame = 0;

std::span<const std::byte> new_bytes(std::span<const BundlePart> parts, std::size_t index) {
  const std::span<const std::byte> said = parts[index].said;
  if (index == 0) return said;
  const std::span<const std::byte> last = parts[index - 1].said;
  const bool is_same =
      said.size() == last.size() && std::memcmp(said.data(), last.data(), said.size()) == 0;
  return is_same ? std::span<const std::byte>() : said;
}

std::size_t size_of_part(std::span<const BundlePart> parts, std::size_t index) {
  const std::size_t bytes = new_bytes(parts, index).size();
  return packed_size(static_cast<std::uint64_t>(parts[index].rank)) + packed_size(bytes) + bytes;
}

}  // namespace

std::size_t bundled_size(std::span<const BundlePart> parts) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) size += size_of_part(parts, i);
  return size;
}

std::size_t count_that_fit(std::span<const BundlePart> parts, std::size_t bytes) {
  std::size_t size = size_of_part(parts, 0);
  std::size_t count = 1;
  while (count < parts.size() && (size += size_of_part(parts, count)) <= bytes) ++count;
  return count;
}

void write_bundle(std::span<const BundlePart> parts, std::span<std::byte> to) {
  assert(to.size() == bundled_size(parts));
  std::byte* at = to.data();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    assert(!parts[i].said.empty());
    const std::span<const std::byte> bytes = new_bytes(parts, i);
    at = pack_number(static_cast<std::uint64_t>(parts[i].rank), at);
    at = pack_number(bytes.size(), at);
    at = std::ranges::copy(bytes, at).out;
  }
}

std::optional<std::vector<BundlePart>> read_bundle(std::span<const std::byte> bytes) {
  std::vector<BundlePart> parts;
  while (!bytes.empty()) {
    const auto rank = unpack_number(bytes);
    const auto size = rank ? unpack_number(bytes) : std::nullopt;
    if (!size || *rank > std::numeric_limits<int>::max() || *size > bytes.size() ||
        (*size == kSame && parts.empty()))
      return std::nullopt;
    const std::span<const std::byte> said = *size == kSame ? parts.back().said : bytes.first(*size);
    bytes = bytes.subspan(*size);
    parts.push_back({static_cast<int>(*rank), said});
  }
  return parts;
}

}  // namespace fanin
