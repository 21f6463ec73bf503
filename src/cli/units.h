#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/bytes_text.h"

namespace fanin::cli {

/// Reads "1000", "64K", "1.5G": K, M, G and T of 1024, in either case. Throws InvalidArgument
/// (kBadOption).
std::size_t parse_bytes(std::string_view text);

/// For people: "12.3 us", "1.25 s".
std::string seconds_text(double seconds);

}  // namespace fanin::cli
