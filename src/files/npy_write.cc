#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/require.h"
#include "files/file.h"
#include "files/npy.h"

namespace fanin {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{8} << 20;

/// Takes a file away again, unless it has been moved to its place.
class Unfinished {
 public:
  explicit Unfinished(fs::path path) : path_(std::move(path)) {}
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  void move_to(const fs::path& place) {
    if (::rename(path_.c_str(), place.c_str()) != 0)
      throw Unavailable(fmt::format("cannot write {}: {}", place.string(), std::strerror(errno)));
    path_.clear();
  }

 private:
  fs::path path_;
};

/// Where a link leads, so that the link itself stays.
fs::path follow_links(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  auto target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

void write_pieces(const File& file, std::span<const std::byte> bytes, const OnBytes& on_bytes) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(kPieceBytes, bytes.size()));
    file.write(piece);
    if (on_bytes) on_bytes(piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace

void check_npy_target(const fs::path& path) {
  const fs::path place = follow_links(path);
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  std::error_code error;
  const auto status = fs::status(place, error);
  require(!fs::is_directory(status) && place.has_filename(), ErrorKind::kBadFile,
          "cannot write {}: it is a folder", path.string());
  require(fs::is_directory(folder, error), ErrorKind::kBadFile,
          "cannot write {}: there is no folder {}", path.string(), folder.string());
  // A device or a pipe would be replaced by a file.
  require(!fs::exists(status) || fs::is_regular_file(status), ErrorKind::kBadFile,
          "cannot write {}: it is not a regular file", path.string());
}

void write_npy(const fs::path& path, const NpyArray& array, const OnBytes& on_bytes) {
  check_npy_target(path);
  const std::string header =
      make_npy_header({array.tensor.dtype(), array.shape(), array.is_transposed});
  const fs::path place = follow_links(path);
  const File file = File::create_beside(place);
  Unfinished unfinished(file.path());
  file.write(std::as_bytes(std::span(header)));
  write_pieces(file, array.tensor.bytes(), on_bytes);
  file.sync();
  unfinished.move_to(place);
}

}  // namespace fanin
