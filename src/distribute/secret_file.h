#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace fanin {

/// The text of FANIN_SECRET_FILE, without the newlines at its end. Throws InvalidArgument
/// (kBadOption) unless it is a regular file of `user` that nobody else may read or write, and holds
/// something.
std::string read_secret_file(const std::filesystem::path& path, uid_t user);

}  // namespace fanin
