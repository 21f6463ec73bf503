#include "engines/host_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace fanin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RanksByHost, BeginWithTheHostOfTheLowestRank) {
  EXPECT_THAT(ranks_by_host(std::array{0, 1, 0, 3, 1}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 4), ElementsAre(3)));
}

TEST(RanksByHost, OfNoRanksAreNone) { EXPECT_THAT(ranks_by_host({}), IsEmpty()); }

}  // namespace
}  // namespace fanin
