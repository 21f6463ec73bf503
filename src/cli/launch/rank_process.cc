#include "cli/launch/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>

#include "core/system_error.h"

namespace fanin::cli {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("making a pipe failed");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// In the new process. Returns only if the program cannot be started.
void become(const std::vector<std::string>& command, const Variables& variables, pid_t parent,
            int output, int errors) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before we asked to be told
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  for (const auto& [name, value] : variables)
    value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

}  // namespace

RankProcess start_rank(const std::vector<std::string>& command, const Variables& variables) {
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  Pipe failure = make_pipe();  // closes when the program starts, otherwise carries errno
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw_errno("starting a process failed");
  if (pid == 0) {
    become(command, variables, parent, output.write_end.get(), errors.write_end.get());
    const int error = errno;
    const bool told = ::write(failure.write_end.get(), &error, sizeof error) > 0;
    ::_exit(told ? 127 : 126);
  }
  // Also here, so that the group exists before anybody signals it.
  ::setpgid(pid, pid);
  failure.write_end.reset();
  int error = 0;
  if (::read(failure.read_end.get(), &error, sizeof error) > 0) {
    ::waitpid(pid, nullptr, 0);
    throw InvalidArgument(ErrorKind::kBadOption,
                          fmt::format("the program \"{}\" cannot be started: {}", command.front(),
                                      describe_errno(error)));
  }
  return {pid, std::move(output.read_end), std::move(errors.read_end)};
}

}  // namespace fanin::cli
