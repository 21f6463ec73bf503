// Ranks that find each other through a store of the caller's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "core/expect_error.h"
#include "fanin/error.h"
#include "fanin/join.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::Child;
using test::Folder;
using test::outcome_of;
using testing::Each;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// For threads.
class MemoryStore {
 public:
  JoinStore functions() {
    return {.set =
                [this](std::string_view key, std::string_view bytes) {
                  const std::lock_guard lock(mutex_);
                  notes_[std::string(key)] = bytes;
                  changed_.notify_all();
                },
            .get =
                [this](std::string_view key, JoinStore::Deadline deadline) {
                  std::unique_lock lock(mutex_);
                  const std::string name(key);
                  if (!changed_.wait_until(lock, deadline, [&] { return notes_.contains(name); }))
                    throw DeadlineExceeded("the store has no " + name);
                  return notes_[name];
                }};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> notes_;
};

/// For processes: a file for each key, which appears whole.
JoinStore store_in(const std::filesystem::path& folder) {
  const auto file_of = [folder](std::string_view key) {
    std::string name(key);
    std::ranges::replace(name, '/', '_');
    return folder / name;
  };
  return {.set =
              [=](std::string_view key, std::string_view bytes) {
                const std::filesystem::path file = file_of(key);
                std::ofstream(file.native() + ".new") << bytes;
                std::filesystem::rename(file.native() + ".new", file);
              },
          .get =
              [=](std::string_view key, JoinStore::Deadline deadline) {
                while (!std::filesystem::exists(file_of(key))) {
                  if (std::chrono::steady_clock::now() >= deadline)
                    throw DeadlineExceeded("the store has nothing");
                  std::this_thread::sleep_for(1ms);
                }
                std::ifstream in(file_of(key));
                return std::string(std::istreambuf_iterator<char>(in), {});
              }};
}

JoinOptions rank_by(JoinStore store, int rank, int world_size) {
  return {.rank = rank,
          .world_size = world_size,
          .timeout = 20s,
          .secret = "between us",
          .store = std::move(store)};
}

/// Where the library makes its folders, so that leftovers are seen.
class TemporaryFiles {
 public:
  TemporaryFiles() { ::setenv("TMPDIR", folder_.path().c_str(), 1); }
  ~TemporaryFiles() { ::setenv("TMPDIR", old_.c_str(), 1); }
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  bool is_empty() const { return folder_.is_empty(); }

 private:
  std::string old_ = std::filesystem::temp_directory_path();
  Folder folder_;
};

TEST(JoinByStore, ThreadsMeet) {
  const TemporaryFiles files;
  MemoryStore store;
  std::vector<std::string> outcomes(3);
  std::vector<std::jthread> threads;
  for (int rank = 2; rank >= 0; --rank)
    threads.emplace_back([&, rank] {
      outcomes[static_cast<std::size_t>(rank)] = outcome_of([&] {
        Group group = join(rank_by(store.functions(), rank, 3));
        EXPECT_EQ(group.rank(), rank);
        group.barrier();
      });
    });
  threads.clear();
  EXPECT_THAT(outcomes, Each(""));
  EXPECT_TRUE(files.is_empty());
}

TEST(JoinByStore, ProcessesMeet) {
  const Folder notes;
  const TemporaryFiles files;
  std::vector<Child> children;
  for (const int rank : {1, 0, 2})
    children.emplace_back([&, rank] { join(rank_by(store_in(notes.path()), rank, 3)).barrier(); });
  for (Child& child : children) EXPECT_EQ(child.outcome(), "");
  EXPECT_TRUE(files.is_empty());
}

TEST(JoinByStore, LeavesNothingWhenARankIsMissing) {
  const TemporaryFiles files;
  MemoryStore store;
  JoinOptions options = rank_by(store.functions(), 0, 2);
  options.timeout = 100ms;
  EXPECT_THAT(outcome_of([&] { join(options); }), HasSubstr("rank 1 of 2 has not come"));
  EXPECT_TRUE(files.is_empty());
}

TEST(JoinByStore, PassesOnWhatTheStoreThrows) {
  MemoryStore store;
  JoinOptions options = rank_by(store.functions(), 1, 2);
  options.timeout = 50ms;
  EXPECT_EQ(outcome_of([&] { join(options); }), "the store has no fanin/rendezvous");
}

TEST(JoinByStore, SaysWhatIsWrongWithTheStore) {
  MemoryStore store;
  JoinStore half = store.functions();
  half.get = nullptr;
  expect_error(ErrorKind::kBadOption, "a store needs both of its functions, set and get",
               [&] { join(rank_by(half, 0, 2)); });
  store.functions().set("fanin/rendezvous", "something else");
  expect_error(ErrorKind::kBadOption,
               HasSubstr("the store has 14 bytes under \"fanin/rendezvous\" that are no note"),
               [&] { join(rank_by(store.functions(), 1, 2)); });
  store.functions().set("fanin/rendezvous", "file:/no/such/folder/fanin.socket");
  expect_error(ErrorKind::kRankMismatch,
               HasSubstr("rank 0 waits in \"/no/such/folder\", says the store, but that is not "
                         "there; is rank 0 on another host"),
               [&] { join(rank_by(store.functions(), 1, 2)); });
}

TEST(JoinByStore, AGroupOfOneNeedsNone) { EXPECT_EQ(join(rank_by({}, 0, 1)).size(), 1); }

}  // namespace
}  // namespace fanin
