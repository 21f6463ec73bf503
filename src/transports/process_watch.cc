#include "transports/process_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <string>

namespace fanin {
namespace {

/// The letter in /proc/PID/stat; ' ' if it cannot be read.
char process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The name before it may hold spaces and parentheses of its own.
  const std::size_t name_end = line.rfind(") ");
  return name_end == std::string::npos || name_end + 2 >= line.size() ? ' ' : line[name_end + 2];
}

}  // namespace

ProcessWatch::ProcessWatch(pid_t pid)
    : pid_(pid), pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {
  if (!pidfd_) ended_ = errno == ESRCH;
}

bool ProcessWatch::has_ended() {
  if (ended_) return true;
  if (pidfd_) {
    pollfd poll_entry{pidfd_.get(), POLLIN, 0};
    ended_ = ::poll(&poll_entry, 1, 0) == 1;
  } else {
    const char state = process_state(pid_);
    ended_ = (::kill(pid_, 0) != 0 && errno == ESRCH) || state == 'Z' || state == 'X';
  }
  return ended_;
}

bool ProcessWatch::is_stopped() const {
  const char state = process_state(pid_);
  return state == 'T' || state == 't';
}

}  // namespace fanin
