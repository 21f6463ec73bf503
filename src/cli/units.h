#pragma once

#include <cstddef>
#include <string>

namespace fanin::cli {

/// For people: "512 B", "1.5 MB" (of 1000).
std::string bytes_text(std::size_t bytes);

/// For people: "12.3 us", "1.25 s".
std::string seconds_text(double seconds);

}  // namespace fanin::cli
