#pragma once

#include <exception>
#include <iostream>

namespace bench {

/// The main() of a program that answers requests until there are no more: calls serve(), and turns
/// what it throws into a line on standard error.
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
