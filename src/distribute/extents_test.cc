#include "distribute/extents.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/expect_error.h"

namespace fanin {
namespace {

using List = std::vector<std::int64_t>;

TEST(Extents, AreSummedOverSomeParts) {
  const Extents extents(List{3, 0, 2, 5});
  EXPECT_EQ(extents.of(2), 2);
  EXPECT_EQ(extents.sum({.count = 4}), 10);
  EXPECT_EQ(extents.sum({.count = 0}), 0);
  EXPECT_EQ(extents.sum({.first = 1, .count = 2, .stride = 2}), 5);
}

TEST(Extents, ThatAreEqualAreOneNumber) {
  EXPECT_EQ(Extents(List{4, 4, 4}), Extents(4));
  EXPECT_EQ(Extents(List{4}), Extents(4));
  EXPECT_EQ(Extents(4).of(2), 4);
  EXPECT_EQ(Extents(4).sum({.first = 1, .count = 2}), 8);
  EXPECT_FALSE(Extents(List{}).are_known());
  EXPECT_EQ(Extents(List{}), Extents());
}

TEST(Extents, AreWrittenForSentences) {
  EXPECT_EQ(to_string(Extents(List{3, 0, 2})), "extents [3,0,2]");
  EXPECT_EQ(to_string(Extents(3)), "3 rows a part");
  EXPECT_EQ(to_string(Extents()), "no extents");
}

TEST(Extents, AreCountedIn63Bits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Extents(List{kMost, 0}).sum({.count = 2}), kMost);
  const auto sentence = testing::HasSubstr("more rows together than 63 bits count");
  expect_error(ErrorKind::kShapeMismatch, sentence, [] {
    Extents(List{kMost, 1}).sum({.count = 2});
  });
  expect_error(ErrorKind::kShapeMismatch, sentence, [] { Extents(kMost).sum({.count = 2}); });
}

}  // namespace
}  // namespace fanin
