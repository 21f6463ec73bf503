#include "transports/hostile.h"

#include <gmock/gmock.h>

#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::wait_for;
using namespace std::chrono_literals;

/// Two ranks in this thread; the first has the mischief.
struct Pair {
  explicit Pair(const HostilePlan& plan) {
    auto transports = make_in_process(2, 65536);
    bad = make_hostile(std::move(transports[0]), plan);
    good = std::move(transports[1]);
  }
  std::unique_ptr<Transport> bad;
  std::unique_ptr<Transport> good;
};

TEST(Hostile, DropsOneFlagAndNoOther) {
  Pair pair({.mischief = Mischief::kDrop, .step = 2});
  for (std::uint64_t value = 1; value <= 3; ++value) {
    pair.bad->publish(9, value);
    EXPECT_EQ(pair.good->peek(0, 9), value == 2 ? 1 : value);
  }
}

TEST(Hostile, DelaysOneStep) {
  Pair pair({.mischief = Mischief::kDelay, .step = 2, .delay = 50ms});
  pair.good->publish(9, 2);
  const Deadline start = Clock::now();
  wait_for(*pair.bad, 1, 9, 1, start + 20s, "first");
  EXPECT_LT(Clock::now() - start, 50ms);
  wait_for(*pair.bad, 1, 9, 2, start + 20s, "second");
  EXPECT_GE(Clock::now() - start, 50ms);
}

TEST(Hostile, TurnsABitOfTheFirstMessage) {
  Pair pair({.mischief = Mischief::kFlip, .step = 1, .seed = 3});
  pair.bad->message(0, Transport::kCallFlags)[0].store(5);
  pair.bad->publish(Transport::kCallFlags, 1);
  EXPECT_EQ(pair.good->message(0, Transport::kCallFlags)[0].load(), 5U ^ 8U);
}

TEST(Hostile, CutsItsNote) {
  Pair pair({.mischief = Mischief::kTruncate, .step = 1, .seed = 10});
  std::ranges::fill(pair.bad->note(0), std::byte{1});
  pair.bad->publish(9, 1);
  EXPECT_EQ(pair.good->note(0)[0], std::byte{1});
  EXPECT_EQ(pair.good->note(0)[100], std::byte{0});
}

TEST(Hostile, HasNames) {
  EXPECT_EQ(name(Mischief::kDie), "die");
  EXPECT_EQ(name(Mischief::kTruncate), "truncate");
}

}  // namespace
}  // namespace fanin
