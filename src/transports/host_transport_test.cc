#include "transports/host_transport.h"

#include <gmock/gmock.h>

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

/// Who is late may still write to a shelf of those who have left: no new group may use it.
TEST(HostTransport, AChannelWhoseShelvesWereUsedIsTakenUntilAllHaveLeft) {
  const auto ranks = make_in_process(2, 65536);
  const std::array both = {0, 1};
  const auto open = [&](int rank) {
    return ranks[static_cast<std::size_t>(rank)]->open(7, 7, both, 1);
  };
  constexpr std::uint64_t kSeven = 1 << 7;
  auto first = open(0);
  auto second = open(1);
  EXPECT_EQ(first->shelf(1).size(), Transport::kShelfBytes);
  first.reset();
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, kSeven);
  second.reset();
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, 0U);
  second = open(1);  // another group, without the first
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, 0U);
  first = open(0);
  first.reset();  // nobody has seen its shelf
  EXPECT_EQ(ranks[0]->used_channels() & kSeven, 0U);
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
