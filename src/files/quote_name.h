#pragma once

#include <string>
#include <string_view>

namespace fanin {

/// A name from a foreign file, fit for a message: in quotes, on one line, in valid UTF-8, and only
/// its beginning if it is very long.
std::string quote_name(std::string_view name);

}  // namespace fanin
