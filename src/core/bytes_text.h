#pragma once

#include <cstddef>
#include <string>

namespace fanin {

/// For people: "512 B", "1.5 MB" (of 1000).
std::string bytes_text(std::size_t bytes);

}  // namespace fanin
