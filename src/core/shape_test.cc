#include "fanin/shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "core/expect_error.h"

namespace fanin {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Shape, CountsItsElements) {
  EXPECT_EQ(Shape().element_count(), 1U);
  EXPECT_EQ(Shape({7}).element_count(), 7U);
  EXPECT_EQ(Shape({2, 3, 4}).element_count(), 24U);
  EXPECT_EQ(Shape({2, 0, 4}).element_count(), 0U);
  EXPECT_EQ(Shape({kHuge, kHuge, 0}).element_count(), 0U);
}

TEST(Shape, PrintsWithoutSpaces) {
  EXPECT_EQ(to_string(Shape()), "[]");
  EXPECT_EQ(to_string(Shape({2})), "[2]");
  EXPECT_EQ(to_string(Shape({2, 3, 0})), "[2,3,0]");
}

TEST(Shape, ComparesDimensions) {
  EXPECT_EQ(Shape({2, 3}), Shape(std::vector<std::int64_t>{2, 3}));
  EXPECT_NE(Shape({2, 3}), Shape({3, 2}));
  EXPECT_NE(Shape({1}), Shape());
  EXPECT_EQ(Shape({2, 3})[1], 3);
  EXPECT_EQ(Shape({2, 3}).rank(), 2U);
}

TEST(Shape, RefusesWhatCannotBe) {
  expect_error(ErrorKind::kShapeMismatch, "shape [2,-1] has a negative dimension", [] {
    Shape({2, -1});
  });
  expect_error(ErrorKind::kShapeMismatch, "shape [0,-1] has a negative dimension", [] {
    Shape({0, -1});
  });
  expect_error(ErrorKind::kShapeMismatch,
               "shape [4294967296,4294967296] has more elements than memory can address", [] {
                 Shape({std::int64_t{1} << 32, std::int64_t{1} << 32});
               });
  EXPECT_THROW(Shape({kHuge}), InvalidArgument);
}

}  // namespace
}  // namespace fanin
