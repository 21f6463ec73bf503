#include "cli/trial/rank_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include "core/system_error.h"
#include "fanin/error.h"
#include "transports/process_watch.h"

namespace fanin::cli {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RankRun::RankRun(const std::function<nlohmann::json()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw_errno("making a pipe failed");
  read_end_ = FileDescriptor(ends[0]);
  const FileDescriptor write_end(ends[1]);
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("starting a process failed");
  if (pid_ > 0) return;
  nlohmann::json report;
  try {
    report = work();
  } catch (const Error& error) {
    report = {{"thrown", error.what()}, {"code", name(error.code())}};
  } catch (const std::exception& error) {
    report = {{"thrown", error.what()}};
  }
  const std::string text = report.dump();
  const bool told =
      ::write(write_end.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(told ? 0 : 1);
}

RankRun::RankRun(RankRun&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      read_end_(std::move(other.read_end_)),
      text_(std::move(other.text_)),
      has_ended_(other.has_ended_),
      status_(other.status_),
      end_seconds_(other.end_seconds_) {}

RankRun::~RankRun() {
  if (pid_ <= 0 || has_ended_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool RankRun::poll() {
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(read_end_.get(), part.data(), part.size())) > 0;)
    text_.append(part.data(), static_cast<std::size_t>(got));
  if (!has_ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) {
    has_ended_ = true;
    end_seconds_ = steady_seconds();
    return poll();  // what it wrote last
  }
  return has_ended_;
}

bool RankRun::is_stopped() const { return !has_ended_ && ProcessWatch(pid_).is_stopped(); }

void RankRun::signal(int number) const {
  if (!has_ended_) ::kill(pid_, number);
}

nlohmann::json RankRun::report() const {
  if (WIFSIGNALED(status_)) return {{"signal", WTERMSIG(status_)}};
  nlohmann::json report = nlohmann::json::parse(text_, nullptr, false);
  if (report.is_discarded()) return {{"thrown", "it ended without a report"}};
  return report;
}

}  // namespace fanin::cli
