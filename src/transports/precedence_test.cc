#include "transports/precedence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace fanin {
namespace {

/// Whether something of this priority waits until `end()` is called.
template <typename End>
bool waits_for(const Precedence& precedence, int priority, End end) {
  std::atomic<bool> has_passed = false;
  std::jthread other([&] {
    precedence.give_way(priority);
    has_passed = true;
  });
  for (int i = 0; i < 20 && !has_passed; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool has_waited = !has_passed;
  end();
  return has_waited;
}

TEST(Precedence, TheSmallerWaitsUntilTheLargerIsDone) {
  Precedence precedence;
  precedence.give_way(0);
  std::optional<Precedence::Holder> larger(std::in_place, &precedence, 3);
  precedence.give_way(3);
  precedence.give_way(4);
  EXPECT_TRUE(waits_for(precedence, 2, [&] { larger.reset(); }));
  precedence.give_way(0);
}

TEST(Precedence, SeveralAreUnderWayAndEndInAnyOrder) {
  Precedence precedence;
  std::optional<Precedence::Holder> two(std::in_place, &precedence, 2);
  std::optional<Precedence::Holder> five(std::in_place, &precedence, 5);
  std::optional<Precedence::Holder> again(std::in_place, &precedence, 5);
  EXPECT_TRUE(waits_for(precedence, 4, [&] {
    five.reset();
    again.reset();
  }));
  EXPECT_TRUE(waits_for(precedence, 1, [&] { two.reset(); }));
}

TEST(Precedence, TheUsualAndThoseWithoutOneHoldNobodyUp) {
  Precedence precedence;
  const Precedence::Holder usual(&precedence, 0);
  const Precedence::Holder alone(nullptr, 7);
  precedence.give_way(0);
}

}  // namespace
}  // namespace fanin
