#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace fanin {

/// An open file. Functions throw with a sentence that names the path.
class File {
 public:
  /// Throws InvalidArgument (kBadFile) if it is missing, not to be read, or no regular file.
  static File open_to_read(const std::filesystem::path& path);

  /// A new file that nobody else uses, which `path` only begins the name of. Throws Unavailable.
  static File create_beside(const std::filesystem::path& path);

  File(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::filesystem::path& path() const { return path_; }
  std::size_t size() const;

  /// Reads up to bytes.size() from `offset`; fewer only at the end of the file.
  std::size_t read(std::span<std::byte> bytes, std::size_t offset) const;

  /// Writes all of it after what has been written.
  void write(std::span<const std::byte> bytes) const;

  /// Returns when the system says that the bytes are on disk.
  void sync() const;

 private:
  File(std::filesystem::path path, int descriptor) : path_(std::move(path)), fd_(descriptor) {}

  std::filesystem::path path_;
  int fd_;
};

}  // namespace fanin
