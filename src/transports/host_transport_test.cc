#include "transports/host_transport.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::outcome_of;
using test::wait_for;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

/// What a rank is told that waits in vain for a moment.
std::string told(Transport& mine, int peer) {
  return outcome_of([&] { wait_for(mine, peer, 9, 1, Clock::now() + 50ms, "a call"); });
}

TEST(HostTransport, SaysWhomTheOneThatIsLateWaitsForItself) {
  const auto ranks = make_in_process(3, 65536);
  std::jthread waiting([&] { wait_for(*ranks[1], 2, 9, 1, Clock::now() + 20s, "a call"); });
  // The other thread may begin late.
  std::string sentence;
  for (int i = 0; i < 100 && sentence.find("waits for") == std::string::npos; ++i)
    sentence = told(*ranks[0], 1);
  EXPECT_THAT(sentence, AllOf(HasSubstr("rank 0 waited"), HasSubstr("s for rank 1"),
                              HasSubstr("; rank 1 waits for rank 2")));
  ranks[2]->publish(9, 1);
  waiting.join();
  EXPECT_THAT(told(*ranks[0], 1), Not(HasSubstr("rank 1 waits for")));
}

constexpr std::uint64_t kSeven = 1 << 7;

/// Who is late still reads there, and may write to a shelf: no new group may use it.
TEST(HostTransport, AChannelThatWasLeftIsTakenUntilAllHaveLeft) {
  const auto ranks = make_in_process(3, 65536);
  const std::array both = {0, 1};
  const auto open = [&](int rank) {
    return ranks[static_cast<std::size_t>(rank)]->open(7, 7, both, 1);
  };
  auto first = open(0);
  auto second = open(1);
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, kSeven);
  first.reset();
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, kSeven);
  EXPECT_EQ(ranks[2]->used_channels() & kSeven, 0U) << "it was never there";
  second.reset();
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, 0U);
  EXPECT_EQ(ranks[1]->used_channels() & kSeven, 0U);
  second = open(1);  // another group, without the first
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, 0U);
}

TEST(HostTransport, TheDeadUseNoChannels) {
  const auto results =
      test::outcomes({.kind = test::Kind::kProcesses, .size = 2}, test::Body([](Transport& mine) {
                       const std::array both = {0, 1};
                       auto beside = mine.open(7, 7, both, 1);
                       test::meet(mine, 1, Clock::now() + 20s);
                       if (mine.rank() == 1) ::raise(SIGKILL);
                       beside.reset();
                       const Deadline deadline = Clock::now() + 20s;
                       while (!mine.is_gone(1) && Clock::now() < deadline)
                         std::this_thread::sleep_for(1ms);
                       test::expect((mine.used_channels() & kSeven) == 0, "taken");
                     }));
  EXPECT_EQ(results.front(), "");
}

TEST(HostTransport, TellsTheLatestEpochOfWhatItHasLeft) {
  const auto ranks = make_in_process(2, 65536);
  const std::array both = {0, 1};
  auto one = ranks[0]->open(7, 7, both, 1);
  auto other = ranks[0]->open(8, 8, both, 1);
  one->begin_epoch(5);
  other->begin_epoch(3);
  EXPECT_EQ(ranks[0]->last_epoch(), 0U) << "nothing is left yet";
  one.reset();
  other.reset();
  EXPECT_EQ(ranks[0]->last_epoch(), 5U);
  EXPECT_EQ(ranks[1]->last_epoch(), 0U);
}

/// Groups without a common rank may use one channel.
TEST(HostTransport, EpochsAreThoseOfTheGroup) {
  const auto ranks = make_in_process(4, 65536);
  const std::array low = {0, 1};
  const std::array high = {2, 3};
  const auto first = ranks[1]->open(7, 7, low, 1);
  const auto second = ranks[3]->open(7, 7, high, 1);
  first->end_epoch(0, {.rank = 1, .kind = ErrorKind::kTimeout, .sentence = "late"});
  EXPECT_EQ(first->epoch(), 1U);
  EXPECT_EQ(second->epoch(), 0U);
  EXPECT_EQ(second->find_decider(1), 1);
  EXPECT_EQ(ranks[0]->open(7, 7, low, 1)->find_decider(1), 0);
}

TEST(HostTransport, AWaitInVainIsRememberedUntilTheNextEpoch) {
  const auto ranks = make_in_process(3, 65536);
  EXPECT_THAT(told(*ranks[1], 2), HasSubstr("for rank 2"));
  EXPECT_THAT(told(*ranks[0], 1), HasSubstr("; rank 1 waits for rank 2"));
  ranks[1]->end_epoch(0, {.rank = 1, .kind = ErrorKind::kTimeout, .sentence = "late"});
  EXPECT_THAT(told(*ranks[0], 1),
              AllOf(HasSubstr("until the deadline"), Not(HasSubstr("rank 1 waits for"))));
}

}  // namespace
}  // namespace fanin
