#include "executor/layout.h"

#include <gmock/gmock.h>

namespace fanin {
namespace {

TEST(Layout, CoversEveryElementOnce) {
  for (const std::size_t count : {0, 1, 15, 16, 17, 100, 1000, 4097}) {
    for (int chunks = 1; chunks <= 33; ++chunks) {
      const Layout layout({count}, chunks, 4);
      std::size_t next = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        EXPECT_EQ(layout.chunk(chunk).begin, next);
        EXPECT_LE(layout.chunk(chunk).end - next, layout.longest_chunk());
        next = layout.chunk(chunk).end;
      }
      EXPECT_EQ(next, count) << chunks << " chunks";
    }
  }
}

TEST(Layout, PutsBordersOnCacheLinesOfTheInput) {
  EXPECT_EQ(Layout({1000}, 3, 4).chunk(0).end % 16, 0U);
  EXPECT_EQ(Layout({1000}, 3, 2).chunk(0).end % 32, 0U);
  EXPECT_EQ(Layout({1000}, 3, 8).chunk(0).end % 8, 0U);
}

TEST(Layout, CutsARangeAtTheBordersOfTensors) {
  const Layout layout({3, 0, 5, 2}, 1, 4);
  std::vector<std::vector<std::size_t>> pieces;
  layout.for_each_segment({1, 9}, [&](const Layout::Segment& piece) {
    pieces.push_back({piece.tensor, piece.offset, piece.count});
  });
  EXPECT_THAT(pieces,
              testing::ElementsAre(testing::ElementsAre(0, 1, 2), testing::ElementsAre(2, 0, 5),
                                   testing::ElementsAre(3, 0, 1)));
}

TEST(Layout, HasNoSegmentsInAnEmptyRange) {
  Layout({3}, 1, 4).for_each_segment({3, 3}, [](const auto&) { FAIL(); });
  Layout({}, 1, 4).for_each_segment({0, 0}, [](const auto&) { FAIL(); });
}

}  // namespace
}  // namespace fanin
