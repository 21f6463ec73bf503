#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace fanin {

/// Told how many bytes have been read or written since the last time.
using OnBytes = std::function<void(std::size_t bytes)>;

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

  /// Reads bytes.size() from `offset`. Throws InvalidArgument (kBadFile) if the file ends before.
  void read_exactly(std::span<std::byte> bytes, std::size_t offset,
                    const OnBytes& on_bytes = nullptr) const;

  /// Writes all of it, from `offset`.
  void write(std::span<const std::byte> bytes, std::size_t offset,
             const OnBytes& on_bytes = nullptr) const;

  /// Returns when the system says that the bytes are on disk.
  void sync() const;

 private:
  File(std::filesystem::path path, int descriptor) : path_(std::move(path)), fd_(descriptor) {}

  std::filesystem::path path_;
  int fd_;
};

}  // namespace fanin
