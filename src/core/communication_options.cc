#include "fanin/communication_options.h"

#include <array>
#include <cmath>

#include "core/require.h"
#include "core/text.h"

namespace fanin {
namespace {

constexpr std::array<std::string_view, 3> kImplementations = {"AUTO", "RING", "NCCL"};

void check(Implementation implementation) {
  require(static_cast<std::size_t>(implementation) < kImplementations.size(), ErrorKind::kBadOption,
          "implementation {} is not known; use AUTO, RING or NCCL",
          static_cast<int>(implementation));
}

}  // namespace

std::string_view name(Implementation implementation) {
  check(implementation);
  return kImplementations[static_cast<std::size_t>(implementation)];
}

Implementation parse_implementation(std::string_view text) {
  const std::string wanted = to_upper(text);
  for (std::size_t i = 0; i < kImplementations.size(); ++i)
    if (kImplementations[i] == wanted) return static_cast<Implementation>(i);
  throw InvalidArgument(
      ErrorKind::kBadOption,
      fmt::format("implementation \"{}\" is not known; use AUTO, RING or NCCL", text));
}

void check(const CommunicationOptions& options) {
  require(options.bytes_per_pack >= 0, ErrorKind::kBadOption,
          "bytes_per_pack must be 0 (automatic) or more, got {}", options.bytes_per_pack);
  if (options.timeout_seconds) {
    const double seconds = *options.timeout_seconds;
    require(std::isfinite(seconds) && seconds > 0, ErrorKind::kBadOption,
            "timeout_seconds must be a finite number above 0, got {}; leave it out to wait for the "
            "default deadline",
            seconds);
  }
  check(options.implementation);
}

CommunicationOptions merge(const CommunicationOptions& base,
                           const std::optional<CommunicationOptions>& other) {
  check(base);
  if (!other) return base;
  check(*other);
  CommunicationOptions merged = base;
  if (other->bytes_per_pack != 0) merged.bytes_per_pack = other->bytes_per_pack;
  if (other->timeout_seconds) merged.timeout_seconds = other->timeout_seconds;
  if (other->implementation != Implementation::kAuto) merged.implementation = other->implementation;
  return merged;
}

}  // namespace fanin
