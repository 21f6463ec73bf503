// Who does not know the job's secret gets nowhere, on either side, and the ranks still meet.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <span>

#include "fanin/context.h"
#include "transports/rendezvous.h"
#include "transports/rendezvous_packets.h"
#include "transports/test_ranks.h"
#include "transports/unix_socket.h"

namespace fanin {
namespace {

using test::Child;
using test::Folder;
using test::meet;
using test::outcome_of;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using namespace std::chrono_literals;

const std::string kSecret = "between-us";

/// What the library warns of while it lives.
class Warnings {
 public:
  Warnings() {
    Context::process().on_warning([this](std::string_view sentence) {
      const std::lock_guard lock(mutex_);
      sentences_.emplace_back(sentence);
    });
  }
  ~Warnings() { Context::process().on_warning(nullptr); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  std::vector<std::string> sentences() {
    const std::lock_guard lock(mutex_);
    return sentences_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> sentences_;
};

void join_and_meet(const std::filesystem::path& path, int rank, const std::string& secret,
                   Clock::duration timeout = 20s) {
  const auto mine = join_shared_memory({path, rank, 2, 4096, Clock::now() + timeout, secret});
  meet(*mine, 1, Clock::now() + 20s);
}

/// Rank 0 as a thread of the test, so that its warnings are seen.
class RankZero {
 public:
  RankZero(const Folder& folder, const std::string& secret, Clock::duration timeout = 20s)
      : thread_([this, &folder, secret, timeout] {
          outcome_ = outcome_of([&] { join_and_meet(folder.socket(), 0, secret, timeout); });
        }) {}

  std::string outcome() {
    thread_.join();
    return outcome_;
  }

 private:
  std::string outcome_;
  std::jthread thread_;
};

Child joining(const Folder& folder, const std::string& secret) {
  return Child([path = folder.socket(), secret] { join_and_meet(path, 1, secret); });
}

/// The same, for tests with a RankZero: made before it, since the child of a process with threads
/// may find locks taken for ever; it waits until it is told to come.
class Guest {
 public:
  Guest(const Folder& folder, const std::string& secret)
      : ends_(make_pipe()), child_([this, path = folder.socket(), secret] {
          char word = 0;
          if (::read(ends_[0].get(), &word, 1) == 1) join_and_meet(path, 1, secret);
        }) {}

  void come() const { EXPECT_EQ(::write(ends_[1].get(), "!", 1), 1); }
  pid_t pid() const { return child_.pid(); }
  std::string outcome() { return child_.outcome(); }

 private:
  static std::array<FileDescriptor, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  }

  std::array<FileDescriptor, 2> ends_;
  Child child_;
};

FileDescriptor connect(const Folder& folder) {
  FileDescriptor socket;
  for (int i = 0; i < 5000 && !(socket = try_connect(folder.socket())); ++i)
    std::this_thread::sleep_for(1ms);
  return socket;
}

template <typename Part>
void send(const FileDescriptor& socket, const Part& part) {
  EXPECT_TRUE(send_packet(socket.get(), std::as_bytes(std::span(&part, 1))));
}

Packet receive(const FileDescriptor& socket) {
  pollfd entry{socket.get(), POLLIN, 0};
  ::poll(&entry, 1, 20'000);
  return receive_packet(socket.get());
}

/// A hello that would be good if a proof followed.
Hello convincing_hello() {
  Hello hello;
  hello.rank = 1;
  hello.size = 2;
  hello.pid = static_cast<std::uint32_t>(::getpid());
  hello.window_bytes = 4096;
  hello.has_secret = 1;
  return hello;
}

TEST(Strangers, RanksWithTheSameSecretMeet) {
  const Folder folder;
  Warnings warnings;
  Guest one(folder, kSecret);
  RankZero zero(folder, kSecret);
  one.come();
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  EXPECT_THAT(warnings.sentences(), SizeIs(0));
}

TEST(Strangers, ARankWithAnotherSecretIsTurnedAwayAndLogged) {
  const Folder folder;
  Warnings warnings;
  Guest stranger(folder, "a guess");
  Guest one(folder, kSecret);
  RankZero zero(folder, kSecret);
  stranger.come();
  const std::string pid = std::to_string(stranger.pid());
  const std::string sentence = stranger.outcome();
  EXPECT_THAT(sentence, AllOf(HasSubstr("did not prove to rank 1 that it knows the job's secret; "
                                        "give all ranks the same FANIN_SECRET"),
                              HasSubstr(folder.socket().native()), Not(HasSubstr("a guess"))));
  one.come();
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  EXPECT_THAT(warnings.sentences(),
              ElementsAre(AllOf(HasSubstr("turned away at \"" + folder.socket().native()),
                                HasSubstr("process " + pid +
                                          " wanted to be rank 1, but left "
                                          "without a proof that it knows the job's secret"),
                                Not(HasSubstr(kSecret)))));
}

TEST(Strangers, ASecretOnOneSideOnlyIsASentence) {
  for (const auto& [of_zero, of_one, sentence] :
       {std::tuple(kSecret, std::string(), "has no secret, but rank 0 has one"),
        std::tuple(std::string(), kSecret, "has a secret, but rank 0 has none")}) {
    const Folder folder;
    Warnings warnings;
    Guest one(folder, of_one);
    RankZero zero(folder, of_zero, 500ms);
    one.come();
    EXPECT_THAT(one.outcome(), AllOf(HasSubstr(sentence), Not(HasSubstr(kSecret))));
    EXPECT_THAT(zero.outcome(), AllOf(HasSubstr("rank 1 of 2 has not come; turned away: process"),
                                      HasSubstr(sentence), Not(HasSubstr(kSecret))));
    EXPECT_THAT(warnings.sentences(), ElementsAre(HasSubstr(sentence)));
  }
}

TEST(Strangers, GetNoDescriptorForRankZerosOwnProofOrForAnyOther) {
  const Folder folder;
  Warnings warnings;
  Guest one(folder, kSecret);
  RankZero zero(folder, kSecret);
  for (const bool sends_back : {true, false}) {
    const FileDescriptor stranger = connect(folder);
    send(stranger, convincing_hello());
    const Packet packet = receive(stranger);
    EXPECT_FALSE(packet.file);
    const auto reply = read_reply(packet.bytes);
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->reply.kind, Reply::kChallenge);
    const auto challenge = read_exactly<Challenge>(reply->rest);
    ASSERT_TRUE(challenge);
    send(stranger, sends_back ? challenge->proof : Digest{});
    const Packet answer = receive(stranger);
    EXPECT_FALSE(answer.file);
    ASSERT_TRUE(read_reply(answer.bytes));
    EXPECT_EQ(read_reply(answer.bytes)->reply.kind, Reply::kRefused);
    EXPECT_THAT(std::string(read_reply(answer.bytes)->sentence()),
                HasSubstr("did not prove that it knows the job's secret"));
  }
  one.come();
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  EXPECT_THAT(warnings.sentences(), SizeIs(2));
}

TEST(Strangers, WhoServesThePathInPlaceOfRankZeroGetsNoProof) {
  const Folder folder;
  ListeningSocket listener(folder.socket());
  Child one = joining(folder, kSecret);
  FileDescriptor guest;
  while (!(guest = listener.accept())) std::this_thread::sleep_for(1ms);
  const auto hello = read_exactly<Hello>(receive(guest).bytes);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->has_secret, 1U);
  const Challenge challenge{.nonce = hello->nonce, .proof = {}};
  send_packet(guest.get(),
              make_reply({Reply::kChallenge, 0}, std::as_bytes(std::span(&challenge, 1))));
  EXPECT_THAT(receive(guest).bytes, SizeIs(0));
  EXPECT_THAT(one.outcome(), HasSubstr("did not prove to rank 1 that it knows the job's secret"));
}

TEST(Strangers, OfAnotherUserAreNoRankZero) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  const Folder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  constexpr uid_t kNobody = 65534;
  Child other([&] {
    if (::setuid(kNobody) != 0) throw std::runtime_error("cannot become another user");
    const ListeningSocket listener(folder.socket());
    std::this_thread::sleep_for(20s);
  });
  connect(folder);
  EXPECT_THAT(outcome_of([&] { join_and_meet(folder.socket(), 1, ""); }),
              AllOf(HasSubstr(fmt::format("is served by process {} of user 65534, but rank 1 "
                                          "belongs to user 0",
                                          other.pid())),
                    HasSubstr("use a path in a folder that only the job's user may write")));
}

TEST(Strangers, WhoSkipsTheChallengeIsNotBelieved) {
  const Folder folder;
  ListeningSocket listener(folder.socket());
  for (const auto& packet : {make_reply({Reply::kAdmitted, 0}), make_reply({Reply::kComplete, 0}),
                             make_reply({Reply::kChallenge, 0}), make_reply({99, 0})}) {
    Child one = joining(folder, kSecret);
    FileDescriptor guest;
    while (!(guest = listener.accept())) std::this_thread::sleep_for(1ms);
    receive(guest);
    // A descriptor of ours, which must not be taken for shared memory.
    send_packet(guest.get(), packet, listener.get());
    EXPECT_THAT(one.outcome(),
                AllOf(HasSubstr(fmt::format("process {} serves", ::getpid())),
                      HasSubstr("does not speak as rank 0 does: it is another program, or has "
                                "another version of Fanin; use the same version")));
  }
}

TEST(Strangers, WhoDoesNotAnswerIsNamed) {
  const Folder folder;
  const ListeningSocket listener(folder.socket());
  EXPECT_THAT(outcome_of([&] { join_and_meet(folder.socket(), 1, kSecret, 100ms); }),
              AllOf(HasSubstr("rank 1 waited"),
                    HasSubstr(fmt::format("to be admitted by process {}, which serves that path, "
                                          "but does not answer",
                                          ::getpid())),
                    HasSubstr("or use another rendezvous")));
}

TEST(Strangers, WhoGivesOtherMemoryIsNotBelieved) {
  const Folder folder;
  ListeningSocket listener(folder.socket());
  Child one = joining(folder, kSecret);
  FileDescriptor guest;
  while (!(guest = listener.accept())) std::this_thread::sleep_for(1ms);
  const auto hello = read_exactly<Hello>(receive(guest).bytes);
  ASSERT_TRUE(hello);
  const ProofSubject subject{.rank = 1,
                             .size = 2,
                             .guest_pid = hello->pid,
                             .rank_zero_pid = static_cast<std::uint32_t>(::getpid()),
                             .guest_nonce = hello->nonce,
                             .rank_zero_nonce = make_nonce()};
  const Challenge challenge{.nonce = subject.rank_zero_nonce,
                            .proof = prove(kSecret, ProofRole::kRankZero, subject)};
  send_packet(guest.get(),
              make_reply({Reply::kChallenge, 0}, std::as_bytes(std::span(&challenge, 1))));
  receive(guest);
  send_packet(guest.get(), make_reply({Reply::kAdmitted, 0}), listener.get());
  EXPECT_THAT(one.outcome(), AllOf(HasSubstr("gave no sealed memory"),
                                   HasSubstr("use the same version for all ranks")));
}

TEST(Strangers, WithoutEndDoNotFillTheLog) {
  const Folder folder;
  Warnings warnings;
  Guest one(folder, kSecret);
  RankZero zero(folder, kSecret);
  for (int i = 0; i < 30; ++i) {
    const FileDescriptor stranger = connect(folder);
    send(stranger, std::array<char, 5>{'h', 'e', 'l', 'l', 'o'});
    receive(stranger);
  }
  one.come();
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  ASSERT_THAT(warnings.sentences(), SizeIs(10));
  EXPECT_THAT(warnings.sentences().front(), HasSubstr("did not speak as a rank does"));
  EXPECT_THAT(warnings.sentences().back(), HasSubstr("(the last that is told)"));
}

TEST(Strangers, TheSilentMakeRoomForOthersAndAreLogged) {
  const Folder folder;
  Warnings warnings;
  Guest one(folder, kSecret);
  RankZero zero(folder, kSecret);
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 80; ++i) silent.push_back(connect(folder));
  one.come();
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
  EXPECT_THAT(warnings.sentences(),
              Contains(HasSubstr("did not prove to be a rank, and others wait")));
}

TEST(Strangers, OfAnotherJobAtTheSamePathReadWhy) {
  const Folder folder;
  Warnings warnings;
  Guest one(folder, kSecret);
  RankZero zero(folder, kSecret);
  connect(folder);
  EXPECT_THAT(outcome_of([&] { join_and_meet(folder.socket(), 0, "the other job's"); }),
              HasSubstr("two jobs need two paths"));
  EXPECT_THAT(outcome_of([&] { join_and_meet(folder.socket(), 1, "the other job's"); }),
              HasSubstr("and two jobs two paths"));
  one.come();
  EXPECT_EQ(zero.outcome(), "");
  EXPECT_EQ(one.outcome(), "");
}

}  // namespace
}  // namespace fanin
