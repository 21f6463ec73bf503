#include <gtest/gtest.h>

#include "fanin/context.h"

namespace fanin {
TEST(Context, CountsMemory) {
  Context context;
  const Buffer buffer = context.buffers().allocate(100);
  EXPECT_EQ(context.memory().now_bytes, 100U);
}
}  // namespace fanin
