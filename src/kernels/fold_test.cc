#include "kernels/fold.h"

#include <gtest/gtest.h>

#include <vector>

namespace fanin {
namespace {
TEST(Fold, Adds) {
  std::vector<float> a(1000, 1.5F), b(1000, 2.F), c(1000);
  std::vector<Operand> s = {{reinterpret_cast<std::byte*>(a.data())},
                            {reinterpret_cast<std::byte*>(b.data())}};
  std::vector<std::byte*> t = {reinterpret_cast<std::byte*>(c.data())};
  fold(make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 2),
       {.sources = s, .targets = t, .count = 1000});
  EXPECT_EQ(c, std::vector<float>(1000, 3.5F));
}
}  // namespace
}  // namespace fanin
