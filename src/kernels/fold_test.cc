#include "kernels/fold.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <numeric>

#include "kernels/fold_fixture.h"
#include "kernels/pass.h"

namespace fanin {
namespace {

using reference::matches_naive;
using reference::Sample;

// Around whole vectors and blocks; mostly short, because the reference is slow.
constexpr std::size_t kLengths[] = {0,  1,  2,  3,  5,   7,   8,   9,   15,   16,   17,   31,
                                    33, 63, 64, 65, 127, 129, 255, 300, 1025, 4095, 4097, 8300};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax,
                             ReduceOp::kProd};

struct Kind {
  DType dtype;
  ReduceOp op;
  Accumulation accumulation;
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (int dtype = 0; dtype < kDTypeCount; ++dtype)
    for (const ReduceOp op : kOps)
      for (const Accumulation accumulation : {Accumulation::kWide, Accumulation::kNative})
        if (accumulation == Accumulation::kWide || dtype <= 1)
          kinds.push_back({static_cast<DType>(dtype), op, accumulation});
  return kinds;
}

Sample sample_of(const Kind& kind, std::size_t source_count) {
  return {.arithmetic = make_arithmetic(kind.op, kind.dtype, kind.accumulation,
                                        static_cast<std::int64_t>(source_count)),
          .source_count = source_count};
}

/// ADD_N's own words: fold the first r = n mod 8 (8 for 0, 9 for 1), then groups of 8.
std::vector<std::uint8_t> add_n_sizes(std::size_t count) {
  std::vector<std::uint8_t> sizes;
  std::size_t first = count % 8;
  if (first < 2) first += 8;
  for (std::size_t left = count > first ? count - first : 0; left > 0; left -= 8)
    sizes.push_back(8);
  sizes.insert(sizes.begin(), static_cast<std::uint8_t>(std::min(first, count)));
  return sizes;
}

/// The vectors of every machine: each target that this one can run.
class OnEveryTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    Redetect();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    Redetect();
  }
  static void Redetect() { hwy::GetChosenTarget().Update(hwy::SupportedTargets()); }
};

TEST_P(OnEveryTarget, SumsInAddNOrder) {
  std::uint64_t seed = 0;
  for (const Kind& kind : all_kinds())
    for (std::size_t count = 1; count <= 33; ++count)
      for (int turn = 0; turn < (is_floating(kind.dtype) ? 4 : 1); ++turn) {
        ++seed;
        Sample sample = sample_of(kind, count);
        sample.group_sizes = add_n_sizes(count);
        sample.count = kLengths[seed % std::size(kLengths)];
        sample.target_count = 1 + seed / 3 % 5;
        sample.store = (seed & 1) == 0 ? Store::kCached : Store::kStreaming;
        sample.source_offset = seed % 7;
        sample.target_offset = turn == 3 ? seed % 5 : size_of(kind.dtype) * (seed % 9);
        sample.target_stagger = turn == 2 ? seed % 3 : 0;
        sample.seed = seed;
        if (!matches_naive(sample, fold)) return;
      }
}

TEST_P(OnEveryTarget, FoldsAnyGroups) {
  std::mt19937_64 random(7);
  const std::vector<Kind> kinds = all_kinds();
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<std::uint8_t> sizes = {1, 1, 2};
    if (turn >= 100) {
      sizes.resize(1 + random() % 6);
      for (std::uint8_t& size : sizes)
        size = static_cast<std::uint8_t>(1 + random() % (random() % 4 == 0 ? 12 : 3));
    }
    const auto count = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    Sample sample = sample_of(kinds[random() % kinds.size()], count);
    sample.group_sizes = sizes;
    sample.count = kLengths[random() % std::size(kLengths)];
    sample.target_count = 1 + random() % 10;
    sample.source_offset = random() % 64;
    sample.store = random() % 2 == 0 ? Store::kCached : Store::kStreaming;
    sample.target_cell = random() % 3 == 0 ? Cell::kPartial : Cell::kResult;
    sample.partial_sources = random() % 2 == 0 ? 0 : random();
    sample.seed = random();
    if (!matches_naive(sample, fold)) return;
  }
}

/// Any expression over so many sources: after each, some of what waits is joined.
std::vector<std::uint8_t> random_joins(std::size_t source_count, std::mt19937_64& random) {
  std::vector<std::uint8_t> joins;
  std::size_t waiting = 0;
  for (std::size_t s = 1; s <= source_count; ++s) {
    const std::size_t join = s == source_count ? waiting : random() % (waiting + 1);
    joins.push_back(static_cast<std::uint8_t>(join));
    waiting += 1 - join;
  }
  return joins;
}

TEST_P(OnEveryTarget, FoldsNestedExpressions) {
  std::mt19937_64 random(11);
  for (const Kind& kind : all_kinds()) {
    const std::size_t most = most_nested_sources(sample_of(kind, 1).arithmetic);
    const bool is_sum = kind.op == ReduceOp::kSum || kind.op == ReduceOp::kMean;
    EXPECT_EQ(most > 0,
              is_floating(kind.dtype) && is_sum && !sample_of(kind, 1).arithmetic.rounds_each_step);
    for (std::size_t count = 1; count <= most; ++count)
      for (int turn = 0; turn < 8; ++turn) {
        Sample sample = sample_of(kind, count);
        sample.joins = random_joins(count, random);
        sample.count = kLengths[random() % std::size(kLengths)];
        sample.target_count = 1 + random() % 10;
        sample.store = random() % 2 == 0 ? Store::kCached : Store::kStreaming;
        sample.target_cell = random() % 3 == 0 ? Cell::kPartial : Cell::kResult;
        sample.source_offset = random() % 64;
        sample.target_offset = turn == 0 ? 0 : random() % 5;
        sample.is_in_place = turn == 7 && sample.target_cell == Cell::kResult;
        sample.seed = random();
        if (!matches_naive(sample, fold)) return;
      }
  }
}

TEST_P(OnEveryTarget, SumsInPlace) {
  for (const Kind& kind : all_kinds())
    for (const std::size_t count : {1U, 2U, 9U, 17U})
      for (const Store store : {Store::kCached, Store::kStreaming}) {
        Sample sample = sample_of(kind, count);
        if (sample.arithmetic.result != kind.dtype) continue;
        sample.group_sizes = add_n_sizes(count);
        sample.count = 4500;
        sample.target_count = 2;
        sample.store = store;
        sample.source_offset = 16;
        sample.target_offset = count * 16 - 16;
        sample.is_in_place = true;
        if (!matches_naive(sample, fold)) return;
      }
}

TEST_P(OnEveryTarget, RoundsHalvesLikeTheCore) {
  // Through partials, float32 to half: ties, subnormals, overflow, NaN and a walk over all else.
  std::vector<float> values;
  for (std::uint32_t half = 0; half < 0x10000U; ++half) {
    const float exact = static_cast<float>(Float16::from_bits(static_cast<std::uint16_t>(half)));
    const auto bits = std::bit_cast<std::uint32_t>(exact);
    for (const std::uint32_t step : {0U, 1U, 0xfffU, 0x1000U, 0x1001U})
      values.push_back(std::bit_cast<float>(bits + step));
    for (const std::uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU})
      values.push_back(std::bit_cast<float>(half << 16 | low));
  }
  for (std::uint64_t bits = 0; bits < 0x100000000U; bits += 9973)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));

  std::vector<std::uint16_t> halves(values.size());
  const Operand source{reinterpret_cast<const std::byte*>(values.data()), Cell::kPartial};
  std::byte* const target = reinterpret_cast<std::byte*>(halves.data());
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    fold(make_arithmetic(ReduceOp::kSum, dtype, Accumulation::kWide, 1),
         {.sources = {&source, 1}, .targets = {&target, 1}, .count = values.size()});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t expected =
          dtype == DType::kFloat16 ? Float16(values[i]).bits : BFloat16(values[i]).bits;
      ASSERT_EQ(halves[i], expected) << name(dtype) << " of " << values[i];
    }
  }
}

TEST_P(OnEveryTarget, WidensEveryHalfLikeTheCore) {
  std::vector<std::uint16_t> halves(0x10000);
  std::iota(halves.begin(), halves.end(), std::uint16_t{0});
  std::vector<float> values(halves.size());
  const Operand source{reinterpret_cast<const std::byte*>(halves.data())};
  std::byte* const target = reinterpret_cast<std::byte*>(values.data());
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    fold(make_arithmetic(ReduceOp::kSum, dtype, Accumulation::kWide, 1),
         {.sources = {&source, 1},
          .targets = {&target, 1},
          .target_cell = Cell::kPartial,
          .count = values.size()});
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float expected = dtype == DType::kFloat16
                                 ? static_cast<float>(Float16::from_bits(halves[i]))
                                 : static_cast<float>(BFloat16::from_bits(halves[i]));
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(values[i])) << i;
      else
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(expected))
            << i;
    }
  }
}

std::vector<std::int64_t> targets_here() {
  std::vector<std::int64_t> targets;
  for (std::int64_t left = hwy::SupportedTargets() & pass_targets(); left != 0; left &= left - 1)
    targets.push_back(left & -left);
  return targets;
}

INSTANTIATE_TEST_SUITE_P(Fold, OnEveryTarget, testing::ValuesIn(targets_here()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

/// One element of a float32 fold.
float fold_floats(ReduceOp op, const std::vector<float>& terms) {
  std::vector<Operand> sources;
  sources.reserve(terms.size());
  for (const float& term : terms) sources.push_back({reinterpret_cast<const std::byte*>(&term)});
  float result = 0;
  std::byte* const target = reinterpret_cast<std::byte*>(&result);
  fold(make_arithmetic(op, DType::kFloat32, Accumulation::kWide,
                       static_cast<std::int64_t>(terms.size())),
       {.sources = sources, .targets = {&target, 1}, .count = 1});
  return result;
}

TEST(Fold, KeepsMinusZero) {
  EXPECT_TRUE(std::signbit(fold_floats(ReduceOp::kSum, {-0.0F})));
  EXPECT_TRUE(std::signbit(fold_floats(ReduceOp::kSum, {-0.0F, -0.0F, -0.0F})));
}

TEST(Fold, LetsNanWinInMinAndMax) {
  const float nan = std::nanf("");
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    EXPECT_TRUE(std::isnan(fold_floats(op, {nan, 1})));
    EXPECT_TRUE(std::isnan(fold_floats(op, {1, nan, 2})));
    EXPECT_TRUE(std::isnan(fold_floats(op, {1, 2, nan})));
  }
}

TEST(Fold, OrdersTheZerosInMinAndMax) {
  EXPECT_TRUE(std::signbit(fold_floats(ReduceOp::kMin, {0.0F, -0.0F})));
  EXPECT_TRUE(std::signbit(fold_floats(ReduceOp::kMin, {-0.0F, 0.0F})));
  EXPECT_FALSE(std::signbit(fold_floats(ReduceOp::kMax, {0.0F, -0.0F})));
  EXPECT_FALSE(std::signbit(fold_floats(ReduceOp::kMax, {-0.0F, 0.0F})));
}

TEST(Fold, CarriesInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fold_floats(ReduceOp::kSum, {1, infinity}), infinity);
  EXPECT_TRUE(std::isnan(fold_floats(ReduceOp::kSum, {infinity, -infinity})));
  EXPECT_EQ(fold_floats(ReduceOp::kMin, {1, -infinity}), -infinity);
}

TEST(Fold, DividesFloat16MeansBeforeItRounds) {
  const Float16 term(60000.0F);
  const std::vector<Operand> sources(2, {reinterpret_cast<const std::byte*>(&term)});
  Float16 result;
  std::byte* const target = reinterpret_cast<std::byte*>(&result);
  fold(make_arithmetic(ReduceOp::kMean, DType::kFloat16, Accumulation::kWide, 2),
       {.sources = sources, .targets = {&target, 1}, .count = 1});
  EXPECT_EQ(static_cast<float>(result), static_cast<float>(term));
}

TEST(AddNGroups, AreTheOrderOfAddN) {
  for (std::size_t count = 1; count < 100; ++count) {
    const auto groups = add_n_groups(count);
    const std::vector<std::uint8_t> sizes(groups.begin(), groups.end());
    EXPECT_EQ(sizes, count <= 9 ? std::vector<std::uint8_t>() : add_n_sizes(count));
  }
}

TEST(Fold, CountsTheBytesItMoves) {
  const auto arithmetic = make_arithmetic(ReduceOp::kMean, DType::kInt8, Accumulation::kWide, 2);
  const std::vector<Operand> sources = {{nullptr, Cell::kInput}, {nullptr, Cell::kPartial}};
  const std::vector<std::byte*> targets(3);
  EXPECT_EQ(bytes_moved(arithmetic, {.sources = sources, .targets = targets, .count = 10}),
            10 * (1 + 8 + 3 * 4));
}

TEST(StoreFor, StreamsEarlierWhereBuffersLieWell) {
  const auto arithmetic = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 2);
  alignas(4096) std::byte page[4096];
  const std::vector<Operand> sources(2, {page});
  std::byte* target = page;
  Fold fold{.sources = sources, .targets = {&target, 1}};
  for (fold.count = 1; store_for(arithmetic, fold) == Store::kCached;) fold.count *= 2;
  EXPECT_EQ(store_for(bytes_moved(arithmetic, fold)), Store::kCached);
  target = page + 64;  // just ahead of the sources
  EXPECT_EQ(store_for(arithmetic, fold), Store::kCached);
  target = page + 2;  // never at the start of a cache line
  EXPECT_EQ(store_for(arithmetic, fold), Store::kCached);
}

TEST(Copy, MovesAnyBytes) {
  std::mt19937 random(3);
  for (const std::size_t size : {0U, 1U, 7U, 8U, 100U, 5000U, 5001U})
    for (const std::size_t offset : {0U, 1U, 8U, 20U})
      for (const Store store : {Store::kCached, Store::kStreaming}) {
        reference::Memory from(size, 3);
        reference::Memory to(size, offset);
        std::generate_n(from.data(), size, [&] { return static_cast<std::byte>(random()); });
        copy({to.data(), size}, {from.data(), size}, store);
        EXPECT_TRUE(std::equal(from.data(), from.data() + size, to.data())) << size << offset;
        EXPECT_TRUE(to.guards_are_whole());
      }
}

}  // namespace
}  // namespace fanin
