#pragma once

// Runs a function as several ranks, on each transport, for tests.

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/file_descriptor.h"
#include "engines/test_engine.h"
#include "fanin/error.h"
#include "transports/host_engine.h"
#include "transports/in_process.h"
#include "transports/message_transport.h"
#include "transports/shared_memory.h"

namespace fanin::test {

using std::chrono_literals::operator""s;

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string path = std::filesystem::temp_directory_path() / "fanin-test-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path socket() const { return path_ / "socket"; }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

enum class Kind { kThreads, kSharedMemoryThreads, kProcesses, kMessages, kHosts };

inline std::ostream& operator<<(std::ostream& out, Kind kind) {
  constexpr std::array kNames{"Threads", "SharedMemoryThreads", "Processes", "Messages", "Hosts"};
  return out << kNames[static_cast<std::size_t>(kind)];
}

struct World {
  Kind kind;
  int size = 2;
  std::size_t window_bytes = 65536;
  WaitTuning tuning = tuning_for_threads(size);
};

using Body = std::function<void(Transport&)>;
using OwningBody = std::function<void(std::unique_ptr<Transport>)>;

/// What is wrong, from inside of a rank: gtest's macros do not reach out of a process.
inline void expect(bool condition, const std::string& sentence) {
  if (!condition) throw std::runtime_error(sentence);
}

/// "" or what the rank threw.
inline std::string outcome_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// A process that runs `work`; what it throws comes back as text.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      const std::string outcome = outcome_of(work);
      const bool told = ::write(ends[1], outcome.data(), outcome.size()) >= 0;
      ::_exit(told ? 0 : 2);
    }
    ::close(ends[1]);
    read_end_ = FileDescriptor(ends[0]);
  }
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), read_end_(std::move(other.read_end_)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  /// Waits for its end.
  std::string outcome() {
    std::string text;
    std::array<char, 512> part{};
    for (ssize_t got = 0; (got = ::read(read_end_.get(), part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(got));
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      text += fmt::format("exit code {}", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) text += fmt::format("signal {}", WTERMSIG(status));
    return text;
  }

 private:
  pid_t pid_ = -1;
  FileDescriptor read_end_;
};

inline std::unique_ptr<Transport> join(const Folder& folder, const World& world, int rank) {
  return join_shared_memory(folder.socket(), rank, world.size, world.window_bytes,
                            Clock::now() + 20s, world.tuning);
}

/// Ranks that see nothing of each other; where there are several hosts, those of one share memory
/// inside.
inline std::vector<std::unique_ptr<Transport>> make_message_transports(
    const std::vector<int>& hosts, std::size_t window_bytes = 65536) {
  std::vector<std::unique_ptr<Engine>> engines = make_loop_engines(hosts);
  const bool are_one = std::ranges::count(hosts, hosts.front()) == std::ssize(hosts);
  for (std::size_t rank = 0; !are_one && rank < engines.size(); ++rank) {
    const std::vector<int> ranks = ranks_of_host(*engines[rank]);
    if (hosts[rank] != static_cast<int>(rank) || ranks.size() == 1) continue;
    auto inside = make_in_process(static_cast<int>(ranks.size()), window_bytes);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      std::unique_ptr<Engine>& engine = engines[static_cast<std::size_t>(ranks[i])];
      engine = make_host_engine(std::move(engine), std::move(inside[i]));
    }
  }
  std::vector<std::unique_ptr<Transport>> transports;
  for (std::unique_ptr<Engine>& engine : engines)
    transports.push_back(make_message_transport(std::move(engine), window_bytes));
  return transports;
}

/// Runs `body` as each rank; the outcome of each, by rank.
inline std::vector<std::string> outcomes(const World& world, const OwningBody& body) {
  const auto size = static_cast<std::size_t>(world.size);
  std::vector<std::string> results(size);
  const Folder folder;
  if (world.kind == Kind::kProcesses) {
    std::vector<Child> children;
    for (int rank = 0; rank < world.size; ++rank)
      children.emplace_back([&, rank] { body(join(folder, world, rank)); });
    for (std::size_t rank = 0; rank < size; ++rank) results[rank] = children[rank].outcome();
    return results;
  }
  std::vector<std::unique_ptr<Transport>> transports(size);
  if (world.kind == Kind::kThreads)
    transports = make_in_process(world.size, world.window_bytes, world.tuning);
  if (world.kind == Kind::kMessages)
    transports = make_message_transports(std::vector<int>(size, 0), world.window_bytes);
  if (world.kind == Kind::kHosts) {
    std::vector<int> hosts;  // of two ranks each
    for (int rank = 0; rank < world.size; ++rank) hosts.push_back(rank / 2 * 2);
    transports = make_message_transports(hosts, world.window_bytes);
  }
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      results[rank] = outcome_of([&] {
        std::unique_ptr<Transport> mine = transports[rank]
                                              ? std::move(transports[rank])
                                              : join(folder, world, static_cast<int>(rank));
        body(std::move(mine));
      });
    });
  threads.clear();
  return results;
}

/// The same for a body that borrows: a rank leaves when it returns.
inline std::vector<std::string> outcomes(const World& world, const Body& body) {
  return outcomes(world,
                  OwningBody([&](std::unique_ptr<Transport> transport) { body(*transport); }));
}

/// Waits in the epoch that is now.
inline std::uint64_t wait_for(Transport& mine, int peer, int flag, std::uint64_t value,
                              Deadline deadline, std::string_view what) {
  Call call{.epoch = mine.epoch(),
            .describe = [what] { return std::string(what); },
            .deadline = deadline};
  return mine.wait(peer, flag, value, call);
}

/// All ranks publish `value` and wait for it.
inline void meet(Transport& mine, std::uint64_t value, Deadline deadline, int flag = 1) {
  mine.publish(flag, value);
  for (int peer = 0; peer < mine.size(); ++peer)
    wait_for(mine, peer, flag, value, deadline, "meeting");
}

}  // namespace fanin::test
