// What the survivors notice when a process is killed or stopped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "transports/process_watch.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::Child;
using test::Folder;
using test::Kind;
using test::meet;
using test::outcome_of;
using test::wait_for;
using test::World;
using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Rank 0 is this process; rank 1 joins, publishes 1 and then sleeps.
struct Pair {
  Pair()
      : peer([this] {
          const auto its = test::join(folder, world, 1);
          meet(*its, 1, Clock::now() + 20s);
          wait_for(*its, 0, 2, 1, Clock::now() + 20s, "to be let go");
          its->publish(2, 1);
        }),
        mine(test::join(folder, world, 0)) {
    meet(*mine, 1, Clock::now() + 20s);
  }

  Folder folder;
  World world{Kind::kProcesses};
  Child peer;
  std::unique_ptr<Transport> mine;
};

TEST(PeerDeath, IsNoticedAtOnceAndNamesRankAndProcess) {
  // The best of some: how fast it can be, on a machine that others use as well.
  Clock::duration best = 1h;
  for (int i = 0; i < 5; ++i) {
    Pair pair;
    ::kill(pair.peer.pid(), SIGKILL);
    const Deadline start = Clock::now();
    try {
      wait_for(*pair.mine, 1, 2, 1, start + 20s, "barrier 2");
      FAIL() << "the wait returned";
    } catch (const PeerFailure& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("rank 0 waited for rank 1 (process {}), which has died: barrier 2",
                            pair.peer.pid()));
    }
    best = std::min(best, Clock::now() - start);
  }
  EXPECT_LT(best, 100ms);
}

TEST(PeerDeath, IsPreferredToADeadlineThatIsOver) {
  Pair pair;
  ::kill(pair.peer.pid(), SIGKILL);
  ProcessWatch watch(pair.peer.pid());
  while (!watch.has_ended()) std::this_thread::sleep_for(1ms);
  EXPECT_THROW(wait_for(*pair.mine, 1, 2, 1, Clock::now() - 1s, "barrier 2"), PeerFailure);
}

TEST(PeerDeath, WhatItPublishedBeforeCounts) {
  Pair pair;
  ::kill(pair.peer.pid(), SIGKILL);
  pair.peer.outcome();
  EXPECT_NO_THROW(wait_for(*pair.mine, 1, 1, 1, Clock::now() - 1s, "the meeting"));
}

TEST(PeerStop, IsADeadlineAndNoDeathAndGoesOnAfterwards) {
  Pair pair;
  ::kill(pair.peer.pid(), SIGSTOP);
  pair.mine->publish(2, 1);
  try {
    wait_for(*pair.mine, 1, 2, 1, Clock::now() + 200ms, "barrier 2");
    FAIL() << "the wait returned";
  } catch (const DeadlineExceeded& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr(fmt::format("rank 1 (process {}, which is stopped by a signal)",
                                            pair.peer.pid())),
                      HasSubstr("barrier 2; it last entered operation 1")));
  }
  ::kill(pair.peer.pid(), SIGCONT);
  EXPECT_NO_THROW(wait_for(*pair.mine, 1, 2, 1, Clock::now() + 20s, "barrier 2"));
  EXPECT_EQ(pair.peer.outcome(), "");
}

TEST(SharedMemory, AStrayWriteIntoAnotherRanksWindowEndsTheWriter) {
  const auto results = test::outcomes({Kind::kProcesses}, [](Transport& mine) {
    if (mine.rank() == 0) wait_for(mine, 1, 2, 1, Clock::now() + 20s, "never");
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report what is wanted here
    std::memset(mine.window(0).data(), 1, 1);
  });
  EXPECT_THAT(results[0], HasSubstr("which has died"));
  EXPECT_EQ(results[1], fmt::format("signal {}", SIGSEGV));
}

TEST(SharedMemory, AForkOfARankIsNotTheRank) {
  Pair pair;
  Child fork([&] { pair.mine.reset(); });
  EXPECT_EQ(fork.outcome(), "");
  pair.mine->publish(2, 1);
  EXPECT_NO_THROW(wait_for(*pair.mine, 1, 2, 1, Clock::now() + 20s, "barrier 2"));
  EXPECT_EQ(pair.peer.outcome(), "");
}

TEST(ProcessWatch, SeesEndAndStop) {
  Child child([] { std::this_thread::sleep_for(20s); });
  ProcessWatch watch(child.pid());
  EXPECT_FALSE(watch.has_ended());
  EXPECT_FALSE(watch.is_stopped());
  ::kill(child.pid(), SIGSTOP);
  for (int i = 0; i < 5000 && !watch.is_stopped(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(watch.is_stopped());
  EXPECT_FALSE(watch.has_ended());
  ::kill(child.pid(), SIGKILL);
  for (int i = 0; i < 5000 && !watch.has_ended(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(watch.has_ended());
  const pid_t gone = child.pid();
  child.outcome();
  EXPECT_TRUE(ProcessWatch(gone).has_ended());
}

}  // namespace
}  // namespace fanin
