#include "transports/precedence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace fanin {
namespace {

void give_way(Precedence& precedence, int priority) {
  const Precedence::Place place(precedence, priority);
  place.give_way();
}

/// Whether something of this priority waits until `end()` is called.
template <typename End>
bool waits_for(Precedence& precedence, int priority, End end) {
  std::atomic<bool> has_passed = false;
  std::jthread other([&] {
    give_way(precedence, priority);
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
  give_way(precedence, 0);
  std::optional<Precedence::Place> larger(std::in_place, precedence, 3);
  give_way(precedence, 0);  // not all have entered it
  larger->enter();
  give_way(precedence, 3);
  give_way(precedence, 4);
  EXPECT_TRUE(waits_for(precedence, 2, [&] { larger.reset(); }));
  give_way(precedence, 0);
}

TEST(Precedence, SeveralAreUnderWayAndEndInAnyOrder) {
  Precedence precedence;
  std::optional<Precedence::Place> two(std::in_place, precedence, 2);
  std::optional<Precedence::Place> five(std::in_place, precedence, 5);
  std::optional<Precedence::Place> again(std::in_place, precedence, 5);
  for (auto* each : {&two, &five, &again}) (*each)->enter();
  const Precedence::Place coming(precedence, 9);
  EXPECT_TRUE(waits_for(precedence, 4, [&] {
    five.reset();
    again.reset();
  }));
  EXPECT_TRUE(waits_for(precedence, 1, [&] { two.reset(); }));
}

TEST(Precedence, TheUsualHoldsNobodyUp) {
  Precedence precedence;
  Precedence::Place usual(precedence, 0);
  usual.enter();
  give_way(precedence, 0);
}

}  // namespace
}  // namespace fanin
