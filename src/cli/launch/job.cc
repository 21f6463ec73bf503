#include "cli/launch/job.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <tuple>

#include "cli/launch/caretaker.h"
#include "cli/launch/line_writer.h"
#include "cli/launch/rank_process.h"
#include "core/system_error.h"
#include "transports/secret_proof.h"

namespace fanin::cli {
namespace {

using Clock = std::chrono::steady_clock;

// From being asked to end until being ended.
constexpr std::chrono::seconds kGrace(3);
// For the last words of a rank that has ended, if something that it started still holds its output.
constexpr std::chrono::milliseconds kLastWords(500);

struct Rank {
  Rank(int rank, bool alone, RankProcess started)
      : process(std::move(started)),
        output(STDOUT_FILENO, alone ? "" : fmt::format("[{}] ", rank)),
        errors(STDERR_FILENO, alone ? "" : fmt::format("[{}] ", rank)) {}

  RankProcess process;
  LineWriter output;
  LineWriter errors;
  Clock::time_point start = Clock::now();
  std::optional<RankEnd> end;
};

/// From here on they are read, not suffered.
FileDescriptor take_over_signals() {
  // Whoever started us may have it ignored; then no end of a rank would be told, or kept to read.
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD})
    ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  FileDescriptor file(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file) throw_errno("signalfd failed");
  return file;
}

class Job {
 public:
  explicit Job(const JobOptions& options) : options_(options), signals_(take_over_signals()) {}

  ~Job() {
    for (Rank& rank : ranks_) {
      if (rank.end) continue;
      ::kill(-rank.process.pid, SIGKILL);
      ::waitpid(rank.process.pid, nullptr, 0);
    }
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  JobEnd run() {
    start_all();
    while (running_count() > 0 || (has_open_output() && Clock::now() < last_words_)) {
      poll_once();
      if (kill_time_ && Clock::now() >= *kill_time_) signal_all(SIGKILL);
    }
    for (Rank& rank : ranks_) {
      rank.output.finish();
      rank.errors.finish();
      result_.ranks.push_back(*rank.end);
    }
    return result_;
  }

 private:
  void start_all() {
    ranks_.reserve(static_cast<std::size_t>(options_.rank_count));
    const std::string secret = make_secret();
    for (int rank = 0; rank < options_.rank_count; ++rank) {
      Variables variables{{"FANIN_RENDEZVOUS", "file:" + (caretaker_.folder() / "socket").native()},
                          {"FANIN_RANK", std::to_string(rank)},
                          {"FANIN_WORLD_SIZE", std::to_string(options_.rank_count)},
                          {"FANIN_SECRET", secret},
                          {"FANIN_SECRET_FILE", std::nullopt},
                          // These ranks are no job of an MPI.
                          {"FANIN_ENGINE", std::nullopt}};
      if (options_.timeout_seconds)
        variables.emplace_back("FANIN_TIMEOUT_SECONDS",
                               fmt::format("{}", *options_.timeout_seconds));
      ranks_.emplace_back(rank, options_.rank_count == 1, start_rank(options_.command, variables));
      caretaker_.watch(ranks_.back().process.pid);
    }
  }

  int running_count() const {
    int count = 0;
    for (const Rank& rank : ranks_) count += rank.end ? 0 : 1;
    return count;
  }

  bool has_open_output() const {
    for (const Rank& rank : ranks_)
      if (rank.process.output || rank.process.errors) return true;
    return false;
  }

  void signal_all(int signal) {
    for (const Rank& rank : ranks_)
      if (!rank.end) ::kill(-rank.process.pid, signal);
  }

  void poll_once() {
    std::vector<pollfd> entries{{signals_.get(), POLLIN, 0}};
    for (const Rank& rank : ranks_) {
      entries.push_back({rank.process.output.get(), POLLIN, 0});
      entries.push_back({rank.process.errors.get(), POLLIN, 0});
    }
    constexpr int kLookAgain = 100;  // milliseconds; only for the times above
    if (::poll(entries.data(), entries.size(), kLookAgain) <= 0) return;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (entries[1 + 2 * i].revents != 0) pass_on(ranks_[i].process.output, ranks_[i].output);
      if (entries[2 + 2 * i].revents != 0) pass_on(ranks_[i].process.errors, ranks_[i].errors);
    }
    if (entries[0].revents != 0) take_signals();
  }

  static void pass_on(FileDescriptor& from, LineWriter& to) {
    std::array<char, 65536> bytes;
    const ssize_t got = ::read(from.get(), bytes.data(), bytes.size());
    if (got > 0)
      to.add({bytes.data(), static_cast<std::size_t>(got)});
    else if (got == 0 || errno != EINTR)
      from.reset();
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) signal_all(static_cast<int>(info.ssi_signo));
    collect_ends();
  }

  void collect_ends() {
    std::optional<int> failed;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i].end || !collect_end(ranks_[i])) continue;
      const int rank = static_cast<int>(i);
      if (ranks_[i].end->exit_code != 0 && (!failed || comes_first(rank, *failed))) failed = rank;
    }
    last_words_ = Clock::now() + kLastWords;
    if (!failed || result_.first_failure) return;
    result_.first_failure = failed;
    result_.ended_by_us = running_count();
    kill_time_ = Clock::now() + kGrace;
    signal_all(SIGTERM);
    signal_all(SIGCONT);  // one that is stopped would not hear it
  }

  /// Of ranks that were found ended together: whoever was killed, then whoever failed by itself,
  /// then those who only noticed that another was gone.
  bool comes_first(int a, int b) const {
    const auto key = [this](int rank) {
      const RankEnd& end = *ranks_[static_cast<std::size_t>(rank)].end;
      constexpr int kNoticed = 3;
      return std::tuple(end.signal == 0, end.exit_code == kNoticed, rank);
    };
    return key(a) < key(b);
  }

  bool collect_end(Rank& rank) {
    siginfo_t info{};
    const auto pid = static_cast<id_t>(rank.process.pid);
    // The process is looked at first and removed later: until then nobody else can get its number,
    // and what it has started can be ended by it.
    if (::waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      return false;
    ::kill(-rank.process.pid, SIGKILL);
    caretaker_.dismiss(rank.process.pid);
    ::waitid(P_PID, pid, &info, WEXITED);
    RankEnd end;
    end.signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
    end.exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    end.seconds = std::chrono::duration<double>(Clock::now() - rank.start).count();
    rank.end = end;
    return true;
  }

  const JobOptions& options_;
  FileDescriptor signals_;  // first, so that no signal ends us while the caretaker starts
  Caretaker caretaker_;
  std::vector<Rank> ranks_;
  std::optional<Clock::time_point> kill_time_;
  Clock::time_point last_words_;
  JobEnd result_;
};

}  // namespace

JobEnd run_job(const JobOptions& options) { return Job(options).run(); }

}  // namespace fanin::cli
