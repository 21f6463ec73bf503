#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "files/file.h"

namespace fanin {

/// Throws InvalidArgument (kBadFile) if a file cannot be written there: the folder does not exist,
/// or something that is not a file stands in the way.
void check_target(const std::filesystem::path& path);

/// A file that appears whole or not at all: it is written beside its place, brought to disk, and
/// moved there by commit(). Without commit() nothing is left behind. A link is followed.
class WholeFile {
 public:
  /// Throws as check_target(), and Unavailable if the system fails.
  explicit WholeFile(const std::filesystem::path& path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Writes all of it, from `offset`. Throws Unavailable.
  void write(std::span<const std::byte> bytes, std::size_t offset,
             const OnBytes& on_bytes = nullptr) {
    file_.write(bytes, offset, on_bytes);
  }

  /// Once, at the end. Throws Unavailable, and then what was there before stays.
  void commit();

 private:
  std::filesystem::path place_;
  File file_;
  bool is_committed_ = false;
};

}  // namespace fanin
