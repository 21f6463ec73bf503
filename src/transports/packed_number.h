#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fanin {

/// Numbers that take as many bytes as they must, where bytes cross a wire: seven bits in each, the
/// lowest first; all but the last have the highest bit set.
inline constexpr std::size_t kMostNumberBytes = 10;

inline std::size_t packed_size(std::uint64_t number) {
  std::size_t size = 1;
  while ((number >>= 7) != 0) ++size;
  return size;
}

/// Where the next one goes.
inline std::byte* pack_number(std::uint64_t number, std::byte* to) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<std::byte>(number | 0x80);
  *to++ = static_cast<std::byte>(number);
  return to;
}

/// Takes it from the beginning of `bytes`; nothing if they end before it does, or it is above
/// 64 bits.
inline std::optional<std::uint64_t> unpack_number(std::span<const std::byte>& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size() && i < kMostNumberBytes; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    if (i == kMostNumberBytes - 1 && byte > 1) return std::nullopt;
    number |= (byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    bytes = bytes.subspan(i + 1);
    return number;
  }
  return std::nullopt;
}

}  // namespace fanin
