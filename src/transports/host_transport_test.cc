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
