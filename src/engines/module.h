#pragma once

#include <filesystem>
#include <string_view>

namespace fanin {

/// A part of Fanin that is built where other software is, and loaded when it is asked for.
struct Module {
  std::string_view title;     // of the software, for people
  const char* file;           // its name
  const char* symbol;         // the one that it shows; another version has another
  std::string_view packages;  // to build and to run it
};

/// Loads it from `folder`, or from beside the library or the program if that is empty, and gives
/// the address of its symbol. It stays loaded. Throws Unavailable, which says what to install.
void* load_module(const Module& module, const std::filesystem::path& folder);

}  // namespace fanin
