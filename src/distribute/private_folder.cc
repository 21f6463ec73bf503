#include "distribute/private_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "core/require.h"
#include "core/system_error.h"

namespace fanin {
namespace {

std::filesystem::path temporary_files() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error)
    throw Unavailable(
        fmt::format("there is no folder for temporary files; set TMPDIR: {}", error.message()));
  return folder;
}

}  // namespace

std::optional<std::string> find_flaw(const std::filesystem::path& folder, uid_t user) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0)
    return fmt::format("cannot be looked at: {}", describe_errno(errno));
  if (!S_ISDIR(status.st_mode)) return "is no folder";
  if (status.st_uid != user)
    return fmt::format("belongs to user {}, not to user {}", status.st_uid, user);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fmt::format("is open to others (mode {:o} instead of 700)", status.st_mode & 0777U);
  return std::nullopt;
}

std::filesystem::path find_private_folder(const std::filesystem::path& runtime_folder) {
  if (!runtime_folder.empty() && !find_flaw(runtime_folder, ::geteuid())) return runtime_folder;
  std::filesystem::path folder = temporary_files() / fmt::format("fanin-{}", ::geteuid());
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    throw_errno("making the folder \"{}\" for ranks to meet failed", folder.native());
  const std::optional<std::string> flaw = find_flaw(folder, ::geteuid());
  require(!flaw, ErrorKind::kBadOption,
          "folder \"{}\", where ranks would meet, {}; mend or remove it, or set FANIN_RENDEZVOUS",
          folder.native(), flaw.value_or(""));
  return folder;
}

TemporaryFolder::TemporaryFolder() {
  std::string path = temporary_files() / "fanin-join-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    throw_errno("making a folder \"{}\" for ranks to meet failed", path);
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace fanin
