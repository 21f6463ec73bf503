#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fanin {

/// Who moves the bytes. The numbers are stable.
enum class Implementation : std::uint8_t { kAuto = 0, kRing = 1, kNccl = 2 };

/// "AUTO", "RING", "NCCL".
std::string_view name(Implementation implementation);

/// Reads a name in any case. Throws InvalidArgument (kBadOption) and lists the names otherwise.
Implementation parse_implementation(std::string_view text);

/// Hints that change time and memory, and leave every result the same.
struct CommunicationOptions {
  /// Gradients travel in packs of at most this many bytes; 0 leaves it to the object or the
  /// planner.
  std::int64_t bytes_per_pack = 0;

  /// Nothing: the default deadline.
  std::optional<double> timeout_seconds = std::nullopt;

  Implementation implementation = Implementation::kAuto;

  friend bool operator==(const CommunicationOptions&, const CommunicationOptions&) = default;
};

/// The older, smaller form of CommunicationOptions.
struct CollectiveHints {
  std::int64_t bytes_per_pack = 0;
  std::optional<double> timeout_seconds = std::nullopt;

  operator CommunicationOptions() const { return {bytes_per_pack, timeout_seconds}; }
};

/// Throws InvalidArgument (kBadOption) if bytes_per_pack is negative, or timeout_seconds is not a
/// finite number above 0. Every call that takes options checks them.
void check(const CommunicationOptions& options);

/// `base`, with everything that `other` sets (not 0, not nothing, not AUTO) in its place.
/// Both are checked.
CommunicationOptions merge(const CommunicationOptions& base,
                           const std::optional<CommunicationOptions>& other);

}  // namespace fanin
