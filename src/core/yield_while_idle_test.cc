#include "core/yield_while_idle.h"

#include <gtest/gtest.h>

namespace fanin {
namespace {

using std::chrono::microseconds;

TEST(YieldWhileIdle, SaysWhetherItCame) {
  int looks = 0;
  const auto comes_at = [&](int look) { return [&looks, look] { return ++looks == look; }; };
  EXPECT_TRUE(yield_while_idle(microseconds(0), comes_at(1)));
  looks = 0;
  EXPECT_FALSE(yield_while_idle(microseconds(0), comes_at(1000)));
  EXPECT_LE(looks, 2);
  EXPECT_FALSE(yield_while_idle(microseconds(200), [] { return false; }));
}

// Whoever takes the core makes one yield long, and no other follows.
TEST(YieldWhileIdle, EndsWithTheFirstYieldThatIsNotQuick) {
  int looks = 0;
  EXPECT_FALSE(yield_while_idle(std::chrono::seconds(60), [&] {
    ++looks;
    std::this_thread::sleep_for(microseconds(50));  // as if it had gone to another
    return false;
  }));
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace fanin
