#include "transports/left_channels.h"

#include <gtest/gtest.h>

#include <array>

namespace fanin {
namespace {

TEST(LeftChannels, AreUsedAsLongAsAnotherMemberIsThere) {
  LeftChannels left;
  std::array<std::uint64_t, 4> used = {0, 1 << 3, 0, 1 << 5};
  const auto used_by = [&](int process) { return used[static_cast<std::size_t>(process)]; };
  left.add(0, 3, {0, 1, 2});
  left.add(0, 5, {0, 2});
  EXPECT_EQ(left.find_used(0, used_by), 1U << 3) << "a stranger is on channel 5";
  EXPECT_EQ(left.find_used(1, used_by), 0U);
  used[1] = 0;
  EXPECT_EQ(left.find_used(0, used_by), 0U);
  used[1] = 1 << 3;
  EXPECT_EQ(left.find_used(0, used_by), 0U) << "it is there for another group";
}

TEST(LeftChannels, ARankByItselfLeavesItFree) {
  LeftChannels left;
  left.add(2, 0, {2});
  EXPECT_EQ(left.find_used(2, [](int) { return ~std::uint64_t{0}; }), 0U);
}

}  // namespace
}  // namespace fanin
