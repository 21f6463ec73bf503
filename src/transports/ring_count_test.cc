#include "transports/ring_count.h"

#include <gtest/gtest.h>

namespace fanin {
namespace {

constexpr std::uint64_t kRound = std::uint64_t{1} << kCountBits;

TEST(RingCount, IsKnownFromItsLowerBits) {
  constexpr std::uint64_t kRing = 4096;
  for (const std::uint64_t start :
       {std::uint64_t{0}, std::uint64_t{1}, kRound - kRing, kRound - 1, kRound, 5 * kRound - 7})
    for (const std::uint64_t ahead : {std::uint64_t{0}, std::uint64_t{1}, kRing}) {
      EXPECT_EQ(count_from(start, count_of(start + ahead)), start + ahead);
      EXPECT_EQ(count_up_to(start + ahead, count_of(start)), start);
    }
}

TEST(RingCount, FitsBesideTheEpoch) {
  const std::uint64_t word = flag_value(3, count_of(kRound + 5));
  EXPECT_EQ(epoch_of(word), 3U);
  EXPECT_EQ(count_from(kRound, count_of(word)), kRound + 5);
}

}  // namespace
}  // namespace fanin
