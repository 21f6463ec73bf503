#include "kernels/matmul.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "kernels/pass.h"

namespace fanin {
namespace {

/// A matrix with numbers around it, which must stay.
class Framed {
 public:
  Framed(std::size_t row_count, std::size_t column_count, std::uint32_t seed)
      : row_count_(row_count), column_count_(column_count) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> number(-1, 1);
    numbers_.resize(kFrame + row_count * stride() + kFrame);
    for (float& each : numbers_) each = number(random);
  }

  std::size_t row_count() const { return row_count_; }
  std::size_t column_count() const { return column_count_; }
  float& at(std::size_t row, std::size_t column) {
    return numbers_[kFrame + row * stride() + column];
  }
  Matrix matrix() { return {&numbers_[kFrame], row_count_, column_count_, stride()}; }

  /// Exactly, the frame too.
  friend bool operator==(const Framed& a, const Framed& b) {
    for (std::size_t i = 0; i < a.numbers_.size(); ++i)
      if (std::bit_cast<std::uint32_t>(a.numbers_[i]) !=
          std::bit_cast<std::uint32_t>(b.numbers_[i]))
        return false;
    return a.numbers_.size() == b.numbers_.size();
  }

 private:
  static constexpr std::size_t kFrame = 3;
  std::size_t stride() const { return column_count_ + kFrame; }
  std::size_t row_count_;
  std::size_t column_count_;
  std::vector<float> numbers_;
};

using Element = std::function<float(std::size_t row, std::size_t column)>;

/// to[m, n] = the chain over k of a(m, k) * b(k, n).
void multiply_slowly(const Element& a, const Element& b, std::size_t inner_count, Chain chain,
                     Framed& to) {
  for (std::size_t m = 0; m < to.row_count(); ++m)
    for (std::size_t n = 0; n < to.column_count(); ++n) {
      float sum = chain == Chain::kFromZero ? 0.0F : to.at(m, n);
      for (std::size_t k = 0; k < inner_count; ++k)
        sum = multiply_adds_are_fused() ? std::fma(a(m, k), b(k, n), sum) : a(m, k) * b(k, n) + sum;
      to.at(m, n) = sum;
    }
}

Element as_it_is(Framed& matrix) {
  return [&](std::size_t row, std::size_t column) { return matrix.at(row, column); };
}
Element transposed(Framed& matrix) {
  return [&](std::size_t row, std::size_t column) { return matrix.at(column, row); };
}

/// Each test for each kind of vectors that this machine has.
class Matmul : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

void expect_the_chains_bits(std::size_t batch, std::size_t inner, std::size_t outer) {
  SCOPED_TRACE(testing::Message() << batch << " rows, " << inner << " to " << outer);
  for (const Chain chain : {Chain::kFromZero, Chain::kFromTarget}) {
    Framed x(batch, inner, 1);
    Framed w(inner, outer, 2);
    Framed y(batch, outer, 3);
    Framed wanted = y;
    multiply(x.matrix(), w.matrix(), chain, y.matrix());
    multiply_slowly(as_it_is(x), as_it_is(w), inner, chain, wanted);
    EXPECT_TRUE(y == wanted) << "y";

    Framed dx(batch, inner, 4);
    wanted = dx;
    multiply_by_transposed(y.matrix(), w.matrix(), chain, dx.matrix());
    multiply_slowly(as_it_is(y), transposed(w), outer, chain, wanted);
    EXPECT_TRUE(dx == wanted) << "dx";

    Framed dw(inner, outer, 5);
    wanted = dw;
    multiply_transposed(x.matrix(), y.matrix(), chain, dw.matrix());
    multiply_slowly(transposed(x), as_it_is(y), batch, chain, wanted);
    EXPECT_TRUE(dw == wanted) << "dw";
  }
}

TEST_P(Matmul, HasTheBitsOfAChainForAllSizes) {
  for (const std::size_t batch : {1U, 2U, 5U, 6U, 7U, 13U})
    for (const std::size_t inner : {1U, 3U, 16U, 17U})
      for (const std::size_t outer : {1U, 10U, 32U, 65U})
        expect_the_chains_bits(batch, inner, outer);
}

TEST_P(Matmul, HasThemBeyondABlock) {
  expect_the_chains_bits(3, 129, 70);
  expect_the_chains_bits(1, 256, 128);
  expect_the_chains_bits(130, 5, 131);
}

TEST_P(Matmul, OfNothingIsZeroOrWhatIsThere) {
  Framed x(4, 0, 1);
  Framed w(0, 9, 2);
  Framed y(4, 9, 3);
  const Framed before = y;
  multiply(x.matrix(), w.matrix(), Chain::kFromTarget, y.matrix());
  EXPECT_TRUE(y == before);
  multiply(x.matrix(), w.matrix(), Chain::kFromZero, y.matrix());
  for (std::size_t m = 0; m < 4; ++m)
    for (std::size_t n = 0; n < 9; ++n) EXPECT_EQ(y.at(m, n), 0.0F);

  Framed no_rows(0, 9, 3);
  Framed none(0, 0, 4);
  multiply_by_transposed(no_rows.matrix(), w.matrix(), Chain::kFromZero, none.matrix());
  EXPECT_TRUE(none == Framed(0, 0, 4));
}

std::vector<std::int64_t> usable_targets() {
  std::vector<std::int64_t> targets;
  for (std::int64_t left = hwy::SupportedTargets() & pass_targets(); left != 0; left &= left - 1)
    targets.push_back(left & -left);
  return targets;
}

INSTANTIATE_TEST_SUITE_P(EachTarget, Matmul, testing::ValuesIn(usable_targets()),
                         [](const auto& test) { return hwy::TargetName(test.param); });

}  // namespace
}  // namespace fanin
