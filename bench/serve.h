#pragma once

#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "against_limit.h"

namespace bench {

/// The answer to a case, as ./bench/run reads it.
inline nlohmann::json to_json(const Times& times) {
  return {{"fanin", times.fanin}, {"limit", times.limit}, {"way", times.way}};
}

/// The main() of a program that reads cases from standard input until it ends: calls serve(), and
/// turns what it throws into a line on standard error.
template <typename Serve>
int run_server(const char* name, Serve&& serve) {
  try {
    serve();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace bench
