#include "files/whole_file.h"

#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "core/require.h"

namespace fanin {
namespace {

namespace fs = std::filesystem;

/// Where a link leads, so that the link itself stays.
fs::path follow_links(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  auto target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

fs::path checked_place(const fs::path& path) {
  fs::path place = follow_links(path);
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
  return place;
}

}  // namespace

void check_target(const fs::path& path) { checked_place(path); }

WholeFile::WholeFile(const fs::path& path)
    : place_(checked_place(path)), file_(File::create_beside(place_)) {}

WholeFile::~WholeFile() {
  if (!is_committed_) ::unlink(file_.path().c_str());
}

void WholeFile::commit() {
  assert(!is_committed_);
  file_.sync();
  if (::rename(file_.path().c_str(), place_.c_str()) != 0)
    throw Unavailable(fmt::format("cannot write {}: {}", place_.string(), std::strerror(errno)));
  is_committed_ = true;
}

}  // namespace fanin
