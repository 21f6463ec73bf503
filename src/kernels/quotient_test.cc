#include "kernels/quotient.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "kernels/fold_reference.h"

namespace fanin {
namespace {

void expect_exact(Int128 sum, std::int64_t divisor) {
  const float single = quotient_float32(sum, divisor);
  const double wide = quotient_float64(sum, divisor);
  ASSERT_EQ(single, static_cast<float>(reference::quotient(sum, divisor, 24)))
      << static_cast<double>(sum) << " / " << divisor;
  ASSERT_EQ(wide, reference::quotient(sum, divisor, 53))
      << static_cast<double>(sum) << " / " << divisor;
}

TEST(Quotient, RoundsOnceWhateverTheSizes) {
  std::mt19937_64 random(11);
  for (int turn = 0; turn < 200000; ++turn) {
    const UInt128 bits = static_cast<UInt128>(random()) << 64 | random();
    const auto sum = static_cast<Int128>(bits) >> (random() % 127);
    const auto divisor = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    expect_exact(sum, std::max<std::int64_t>(divisor, 1));
    if (HasFatalFailure()) return;
  }
}

TEST(Quotient, RoundsTiesToEven) {
  for (std::int64_t odd = 1; odd < 99; odd += 2)
    for (int shift = 0; shift < 60; ++shift)
      for (int off = -1; off <= 1; ++off) {
        const Int128 near_tie = (((Int128{1} << 54) + odd) * (Int128{1} << shift)) * 3 + off;
        expect_exact(near_tie, 3);
        expect_exact(-near_tie, 3);
        expect_exact(((Int128{1} << 25) + odd) * 7 + off, 7);
        if (HasFatalFailure()) return;
      }
}

TEST(Quotient, ReachesTheEnds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const Int128 sum :
       {Int128{0}, Int128{1}, Int128{-1}, Int128{kMost}, -Int128{kMost} - 1, Int128{kMost} * kMost})
    for (const std::int64_t divisor : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, kMost})
      expect_exact(sum, divisor);
}

}  // namespace
}  // namespace fanin
