#pragma once

#include <filesystem>

namespace fanin::cli {

/// Writes algorithms.md, for people who choose or read an algorithm, and the pictures that it
/// shows. Throws InvalidArgument (kBadFile) if the folder is not there; every file appears whole or
/// not at all.
void write_document(const std::filesystem::path& folder);

}  // namespace fanin::cli
