#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace fanin {

/// What one rank has said: a whole message, which is not empty.
struct BundlePart {
  int rank = 0;
  std::span<const std::byte> said;
};

/// The content of a message that holds what several ranks have said. Ranks mostly say the same, so
/// one that says what the rank before it did takes two bytes or three.
std::size_t bundled_size(std::span<const BundlePart> parts);

/// How many of the first take no more than so many bytes: one at least.
std::size_t count_that_fit(std::span<const BundlePart> parts, std::size_t bytes);

/// Writes it; `to` has the size that bundled_size() tells.
void write_bundle(std::span<const BundlePart> parts, std::span<std::byte> to);

/// What write_bundle() has written, in place; nothing if the bytes are no bundle.
std::optional<std::vector<BundlePart>> read_bundle(std::span<const std::byte> bytes);

}  // namespace fanin
