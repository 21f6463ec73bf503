#include "distribute/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/file_descriptor.h"
#include "core/require.h"
#include "core/system_error.h"

namespace fanin {
namespace {

constexpr std::size_t kMostBytes = 4096;

std::string read_all(int file, const std::filesystem::path& path) {
  std::string text(kMostBytes + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file, text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, ErrorKind::kBadOption, "FANIN_SECRET_FILE \"{}\" cannot be read: {}",
            path.native(), describe_errno(errno));
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

}  // namespace

std::string read_secret_file(const std::filesystem::path& path, uid_t user) {
  // A pipe must not make us wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  require(static_cast<bool>(file), ErrorKind::kBadOption,
          "FANIN_SECRET_FILE \"{}\" cannot be opened: {}", path.native(), describe_errno(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    throw_errno("looking at FANIN_SECRET_FILE \"{}\" failed", path.native());
  require(S_ISREG(status.st_mode), ErrorKind::kBadOption,
          "FANIN_SECRET_FILE \"{}\" is no regular file", path.native());
  require(status.st_uid == user, ErrorKind::kBadOption,
          "FANIN_SECRET_FILE \"{}\" belongs to user {}, but this process to user {}; the secret "
          "must be the job's user's own",
          path.native(), status.st_uid, user);
  require((status.st_mode & (S_IRWXG | S_IRWXO)) == 0, ErrorKind::kBadOption,
          "FANIN_SECRET_FILE \"{}\" is open to others (mode {:o}); make it private: chmod 600",
          path.native(), status.st_mode & 0777U);
  std::string secret = read_all(file.get(), path);
  require(secret.size() <= kMostBytes, ErrorKind::kBadOption,
          "FANIN_SECRET_FILE \"{}\" has more than {} bytes; is it the right file?", path.native(),
          kMostBytes);
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  require(!secret.empty(), ErrorKind::kBadOption, "FANIN_SECRET_FILE \"{}\" holds no secret",
          path.native());
  return secret;
}

}  // namespace fanin
