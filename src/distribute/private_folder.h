#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace fanin {

/// Where ranks meet in a folder.
inline constexpr std::string_view kSocketName = "fanin.socket";

/// What keeps `folder` from being private to `user`, as the end of a sentence that begins with it;
/// none if it is a folder of this user's that nobody else may look into.
std::optional<std::string> find_flaw(const std::filesystem::path& folder, uid_t user);

/// A folder that is the same for all processes of this user, and private to them: `runtime_folder`
/// if it is one, else "fanin-UID" in the folder for temporary files, which is made and stays.
/// Throws InvalidArgument (kBadOption) when somebody else has that, Unavailable.
std::filesystem::path find_private_folder(const std::filesystem::path& runtime_folder);

/// A new private folder, which goes away with the object. Throws Unavailable.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fanin
