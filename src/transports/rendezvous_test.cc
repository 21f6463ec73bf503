// How the processes of one host find each other, and what they read when they do not.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "transports/test_ranks.h"
#include "transports/unix_socket.h"

namespace fanin {
namespace {

using test::Child;
using test::expect;
using test::Folder;
using test::meet;
using test::outcome_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

std::unique_ptr<Transport> join(const std::filesystem::path& path, int rank, int size,
                                Clock::duration timeout = 20s) {
  return join_shared_memory(path, rank, size, 4096, Clock::now() + timeout);
}

Child joining(const std::filesystem::path& path, int rank, int size,
              Clock::duration timeout = 20s) {
  return Child([=] { meet(*join(path, rank, size, timeout), 1, Clock::now() + 20s); });
}

void wait_for_file(const std::filesystem::path& path) {
  for (int i = 0; i < 5000 && !std::filesystem::exists(path); ++i) std::this_thread::sleep_for(1ms);
}

/// A connection of somebody who is no rank.
FileDescriptor connect_stranger(const std::filesystem::path& path) {
  wait_for_file(path);
  FileDescriptor socket;
  for (int i = 0; i < 5000 && !socket; ++i) {
    socket = try_connect(path);
    if (!socket) std::this_thread::sleep_for(1ms);
  }
  return socket;
}

TEST(Rendezvous, LeavesNothingBehind) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 2);
  Child one = joining(folder.socket(), 1, 2);
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  EXPECT_TRUE(folder.is_empty());
}

TEST(Rendezvous, OnlyItsUserMayConnect) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 2);
  wait_for_file(folder.socket());
  struct stat status {};
  ASSERT_EQ(::stat(folder.socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(Rendezvous, MissingRanksAreNamedByAllWhoCame) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 4, 300ms);
  Child one = joining(folder.socket(), 1, 4, 20s);
  EXPECT_THAT(zero.outcome(),
              AllOf(HasSubstr("rank 0 waited "), HasSubstr("ranks 2 and 3 of 4 have not come")));
  EXPECT_THAT(one.outcome(), HasSubstr("ranks 2 and 3 of 4 have not come"));
  EXPECT_TRUE(folder.is_empty());
}

TEST(Rendezvous, AWaitingRankHasADeadlineOfItsOwn) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 3);
  Child one = joining(folder.socket(), 1, 3, 300ms);
  EXPECT_THAT(one.outcome(),
              AllOf(HasSubstr("rank 1 waited"), HasSubstr("rank 2 of 3 has not come")));
  EXPECT_THAT(zero.outcome(), AllOf(HasSubstr("rank 1 (process"), HasSubstr("went away")));
}

TEST(Rendezvous, WithoutRankZeroTheOthersSaySo) {
  const Folder folder;
  EXPECT_THAT(outcome_of([&] { join(folder.socket(), 1, 2, 100ms); }),
              AllOf(HasSubstr("rank 1 waited"), HasSubstr("found no rank 0")));
}

TEST(Rendezvous, ALateRankReadsThatTheGroupMayBeComplete) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 2);
  Child one = joining(folder.socket(), 1, 2);
  EXPECT_EQ(zero.outcome() + one.outcome(), "");
  EXPECT_THAT(outcome_of([&] { join(folder.socket(), 1, 2, 100ms); }),
              AllOf(HasSubstr("found no rank 0"),
                    HasSubstr("A group that is complete or has given up takes nobody"),
                    Not(HasSubstr("left behind"))));
}

TEST(Rendezvous, AStaleFileIsNoRankZero) {
  const Folder folder;
  {
    Child killed = joining(folder.socket(), 0, 2);
    connect_stranger(folder.socket());
  }
  EXPECT_THAT(outcome_of([&] { join(folder.socket(), 1, 2, 100ms); }),
              AllOf(HasSubstr("found no rank 0"),
                    HasSubstr("only a file that a process left behind which is gone")));
}

TEST(Rendezvous, ADuplicateRankIsTurnedAwayAndTheOthersGoOn) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 3);
  Child one = joining(folder.socket(), 1, 3);
  Child other = joining(folder.socket(), 1, 3);
  // Whichever of the two comes later is turned away, and ends first.
  std::this_thread::sleep_for(200ms);
  Child two = joining(folder.socket(), 2, 3);
  const std::string first = one.outcome() + other.outcome();
  EXPECT_THAT(first, AllOf(HasSubstr("wants to be rank 1, which process"), HasSubstr("already")));
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(two.outcome(), "");
}

TEST(Rendezvous, AWrongWorldSizeIsTurnedAwayAndRankZeroRemembersIt) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 2, 500ms);
  Child one = joining(folder.socket(), 1, 3);
  EXPECT_THAT(one.outcome(), HasSubstr("says that there are 3 ranks, rank 0 says 2"));
  EXPECT_THAT(zero.outcome(), AllOf(HasSubstr("rank 1 of 2 has not come; turned away: process"),
                                    HasSubstr("says that there are 3 ranks")));
}

TEST(Rendezvous, ARankOutOfRangeIsAnError) {
  EXPECT_THAT(outcome_of([] { join("/tmp/unused", 2, 2); }),
              HasSubstr("rank 2 does not exist in a group of 2"));
}

TEST(Rendezvous, StrangersDisturbNobody) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 2);
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_stranger(folder.socket()));
  connect_stranger(folder.socket());
  const FileDescriptor garbage = connect_stranger(folder.socket());
  const std::string text(4000, 'x');
  EXPECT_TRUE(send_packet(garbage.get(), std::as_bytes(std::span(text))));
  const FileDescriptor stream(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.socket().native().copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_NE(::connect(stream.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  Child one = joining(folder.socket(), 1, 2);
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  const std::vector<std::byte> answer = receive_packet(garbage.get()).bytes;
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(answer.data()), answer.size()),
              HasSubstr("did not speak as a rank does"));
}

std::ptrdiff_t open_file_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(Rendezvous, OfSeveralFilesInAPacketTheFirstIsKept) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const FileDescriptor from(ends[0]);
  const FileDescriptor to(ends[1]);
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof ends)> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof ends);
  std::memcpy(CMSG_DATA(header), ends.data(), sizeof ends);
  const std::ptrdiff_t before = open_file_count();
  ASSERT_EQ(::sendmsg(from.get(), &message, 0), 1);
  {
    const Packet packet = receive_packet(to.get());
    EXPECT_EQ(packet.bytes.size(), 1U);
    EXPECT_EQ(open_file_count(), before + 1);
    struct stat sent {};
    struct stat kept {};
    EXPECT_EQ(::fstat(from.get(), &sent), 0);
    EXPECT_EQ(::fstat(packet.file.get(), &kept), 0);
    EXPECT_EQ(kept.st_ino, sent.st_ino);
  }
  EXPECT_EQ(open_file_count(), before);
}

/// A process that keeps the folder locked until it ends.
Child locking(const Folder& folder, Clock::duration time) {
  const FileDescriptor lock(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  expect(::flock(lock.get(), LOCK_EX) == 0, "no lock");
  return Child([time] { std::this_thread::sleep_for(time); });  // it inherits the lock
}

TEST(Rendezvous, ALockedFolderIsASentenceAtTheDeadline) {
  const Folder folder;
  const Child other = locking(folder, 5s);
  const auto sentence =
      AllOf(HasSubstr("rank 0 waited 0."), HasSubstr(folder.socket().native()),
            HasSubstr("another process keeps it locked; end that process, or use a path in"));
  EXPECT_THAT(outcome_of([&] { ListeningSocket(folder.socket(), Clock::now() + 200ms); }),
              sentence);
  EXPECT_THAT(outcome_of([&] { join(folder.socket(), 0, 2, 200ms); }), sentence);
}

TEST(Rendezvous, AFolderThatIsLockedForAMomentIsWaitedFor) {
  const Folder folder;
  const Child other = locking(folder, 100ms);
  Child zero = joining(folder.socket(), 0, 2);
  Child one = joining(folder.socket(), 1, 2);
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
}

TEST(Rendezvous, AStaleFileIsReplaced) {
  const Folder folder;
  {
    Child killed = joining(folder.socket(), 0, 2);
    wait_for_file(folder.socket());
  }
  ASSERT_TRUE(std::filesystem::exists(folder.socket()));
  Child zero = joining(folder.socket(), 0, 2);
  Child one = joining(folder.socket(), 1, 2);
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  EXPECT_TRUE(folder.is_empty());
}

TEST(Rendezvous, ASecondRankZeroIsRefusedAndTheFirstGoesOn) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 2);
  connect_stranger(folder.socket());
  EXPECT_THAT(outcome_of([&] { join(folder.socket(), 0, 2); }),
              AllOf(HasSubstr(fmt::format("served by process {}", zero.pid())),
                    HasSubstr("two jobs need two paths")));
  Child one = joining(folder.socket(), 1, 2);
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
}

TEST(Rendezvous, RankZerosDeathEndsTheOthersWaitAtOnce) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 3);
  Child one = joining(folder.socket(), 1, 3);
  std::this_thread::sleep_for(200ms);
  ::kill(zero.pid(), SIGKILL);
  EXPECT_THAT(one.outcome(), AllOf(HasSubstr("rank 0 (process"), HasSubstr("went away"),
                                   HasSubstr("rank 2 of 3 has not come")));
}

TEST(Rendezvous, ADeathWhileJoiningEndsTheOthersWaitAtOnce) {
  const Folder folder;
  Child zero = joining(folder.socket(), 0, 4);
  Child one = joining(folder.socket(), 1, 4);
  Child two = joining(folder.socket(), 2, 4);
  std::this_thread::sleep_for(200ms);
  ::kill(two.pid(), SIGKILL);
  const std::string sentence = fmt::format("rank 2 (process {}) went away", two.pid());
  EXPECT_THAT(zero.outcome(), HasSubstr(sentence));
  EXPECT_THAT(one.outcome(), HasSubstr(sentence));
}

TEST(Rendezvous, APathThatCannotBeUsedIsASentence) {
  const Folder folder;
  for (const int rank : {0, 1}) {
    const auto error = [&](const std::filesystem::path& path) {
      return outcome_of([&] { join(path, rank, 2, 100ms); });
    };
    EXPECT_THAT(error(folder.socket() / "missing" / "socket"),
                HasSubstr("is in a folder that does not exist; make it first"));
    EXPECT_THAT(error(folder.socket().parent_path() / std::string(120, 'x')),
                AllOf(HasSubstr("at most 107"), HasSubstr("use a shorter one")));
    EXPECT_THAT(error(folder.socket().parent_path()), HasSubstr("is a folder"));
  }
  std::ofstream(folder.socket()) << "mine";
  EXPECT_THAT(outcome_of([&] { join(folder.socket(), 0, 2); }),
              HasSubstr("exists and is no socket"));
  EXPECT_TRUE(std::filesystem::exists(folder.socket()));
}

}  // namespace
}  // namespace fanin
