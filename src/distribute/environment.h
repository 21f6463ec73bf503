#pragma once

// Variables of the environment, for JoinOptions::from_environment() and its parts only.

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/require.h"

namespace fanin {

/// Empty if it is not set.
inline std::string_view read_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

inline bool is_set(const char* name) { return !read_variable(name).empty(); }

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

/// A variable that is set to a whole number of 0 or more.
inline int read_count(const char* name) {
  const std::string_view text = read_variable(name);
  int number = 0;
  require(parse_number(text, number) && number >= 0, ErrorKind::kBadOption,
          "{} is \"{}\", which is no count", name, text);
  return number;
}

}  // namespace fanin
