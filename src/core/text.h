#pragma once

#include <string>
#include <string_view>

namespace fanin {

/// ASCII letters in capitals.
inline std::string to_upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

}  // namespace fanin
