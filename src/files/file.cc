#include "files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/require.h"

namespace fanin {
namespace {

// Linux moves at most 2 GiB in one call.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

// Small enough that progress is seen, large enough that calls do not count.
constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

[[noreturn]] void throw_unavailable(const char* verb, const std::filesystem::path& path) {
  throw Unavailable(fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(errno)));
}

struct stat status_of(int descriptor, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_unavailable("look at", path);
  return status;
}

}  // namespace

File File::open_to_read(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe that nobody writes to would wait here.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  require(descriptor >= 0, ErrorKind::kBadFile, "cannot read {}: {}", path.string(),
          errno == ENOENT ? "there is no such file" : std::strerror(errno));
  File file(path, descriptor);
  const mode_t mode = status_of(descriptor, path).st_mode;
  require(!S_ISDIR(mode), ErrorKind::kBadFile, "cannot read {}: it is a folder", path.string());
  require(S_ISREG(mode), ErrorKind::kBadFile, "cannot read {}: it is not a regular file",
          path.string());
  return file;
}

File File::create_beside(const std::filesystem::path& path) {
  for (int attempt = 0;; ++attempt) {
    auto name = path;
    name += fmt::format(".{}-{}.tmp", ::getpid(), attempt);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {std::move(name), descriptor};
    if (errno != EEXIST || attempt == 1000) throw_unavailable("write", path);
  }
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

std::size_t File::size() const { return static_cast<std::size_t>(status_of(fd_, path_).st_size); }

std::size_t File::read(std::span<std::byte> bytes, std::size_t offset) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pread(fd_, bytes.data() + done, std::min(bytes.size() - done, kMostAtOnce),
                static_cast<off_t>(offset + done));
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_unavailable("read", path_);
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void File::read_exactly(std::span<std::byte> bytes, std::size_t offset,
                        const OnBytes& on_bytes) const {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(kPieceBytes, bytes.size()));
    require(read(piece, offset) == piece.size(), ErrorKind::kBadFile,
            "{} became shorter while it was read", path_.string());
    if (on_bytes) on_bytes(piece.size());
    bytes = bytes.subspan(piece.size());
    offset += piece.size();
  }
}

void File::write(std::span<const std::byte> bytes, std::size_t offset,
                 const OnBytes& on_bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd_, bytes.data(), std::min(bytes.size(), kPieceBytes),
                                   static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_unavailable("write", path_);
    const auto done = static_cast<std::size_t>(count);
    if (on_bytes) on_bytes(done);
    bytes = bytes.subspan(done);
    offset += done;
  }
}

void File::sync() const {
  // Some file systems cannot, and say so: there is nothing better to do on those.
  if (::fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP) throw_unavailable("write", path_);
}

}  // namespace fanin
