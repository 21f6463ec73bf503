#include "cli/launch/caretaker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>

#include "core/system_error.h"

namespace fanin::cli {
namespace {

constexpr pid_t kGoodbye = 0;

std::filesystem::path make_folder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    throw Unavailable(
        fmt::format("there is no folder for temporary files; set TMPDIR: {}", error.message()));
  std::string path = parent / "fanin-launch-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    throw_errno("making a folder in {} for the ranks to meet failed", parent.native());
  return path;
}

void remove_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

/// The caretaker's life: listens until the launcher says goodbye or is gone.
[[noreturn]] void take_care(int line, const std::filesystem::path& folder) {
  // Out of the terminal's and the job's reach, and holding open nothing of the launcher's.
  ::setsid();
  ::prctl(PR_SET_NAME, "fanin-caretaker");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  constexpr int kLine = 3;
  ::dup2(line, kLine);
  ::closefrom(kLine + 1);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < kLine; ++fd) ::dup2(nothing, fd);

  std::set<pid_t> groups;
  pid_t message = 0;
  while (::recv(kLine, &message, sizeof message, 0) == sizeof message) {
    if (message == kGoodbye) ::_exit(0);
    if (message > 0)
      groups.insert(message);
    else
      groups.erase(-message);
  }
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
  remove_folder(folder);
  ::_exit(0);
}

}  // namespace

Caretaker::Caretaker() : folder_(make_folder()) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0 ||
      (pid_ = ::fork()) < 0) {
    remove_folder(folder_);
    throw_errno("starting a process failed");
  }
  if (pid_ == 0) {
    ::close(ends[0]);
    take_care(ends[1], folder_);
  }
  line_ = FileDescriptor(ends[0]);
  ::close(ends[1]);
}

Caretaker::~Caretaker() {
  remove_folder(folder_);
  tell(kGoodbye);
  ::waitpid(pid_, nullptr, 0);
}

void Caretaker::tell(pid_t message) {
  // If the caretaker is gone there is none; the job goes on.
  ::send(line_.get(), &message, sizeof message, MSG_NOSIGNAL);
}

}  // namespace fanin::cli
