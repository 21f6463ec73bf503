#include "kernels/ready_sum.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/fold_fixture.h"

namespace fanin {
namespace {

/// Random inputs, summed by fold() and by a ReadySum.
bool is_same_as_fold(const Arithmetic& arithmetic, std::size_t source_count,
                     std::size_t target_count, std::size_t count) {
  std::mt19937_64 random(source_count * 1000 + count);
  std::vector<reference::Memory> inputs;
  std::vector<reference::Memory> results;
  for (std::size_t s = 0; s < source_count; ++s) {
    inputs.emplace_back(count * arithmetic.size_of(Cell::kInput), 4 * s);
    reference::fill(inputs.back().data(), count, arithmetic, Cell::kInput, random);
  }
  const std::size_t result_bytes = count * arithmetic.size_of(Cell::kResult);
  for (std::size_t t = 0; t < target_count + 1; ++t) results.emplace_back(result_bytes, 4 * t);

  std::vector<Operand> sources;
  for (reference::Memory& input : inputs) sources.push_back({input.data()});
  std::byte* const wanted = results.back().data();
  fold(arithmetic, {.sources = sources, .targets = {&wanted, 1}, .count = count});

  std::optional<ReadySum> sum = ReadySum::of(arithmetic, source_count, target_count);
  if (!sum) return false;
  for (std::size_t s = 0; s < source_count; ++s) sum->source(s) = inputs[s].data();
  for (std::size_t t = 0; t < target_count; ++t) sum->target(t) = results[t].data();
  sum->run(count);
  return std::ranges::all_of(results, [&](reference::Memory& result) {
    return result.guards_are_whole() && std::equal(wanted, wanted + result_bytes, result.data());
  });
}

TEST(ReadySum, HasTheBitsOfFold) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64})
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean})
      for (std::size_t sources = 1; sources <= 9; ++sources)
        for (const std::size_t count : {0, 1, 2, 3, 7, 8, 15, 16, 17, 40, 257})
          EXPECT_TRUE(is_same_as_fold(
              make_arithmetic(op, dtype, Accumulation::kWide, static_cast<std::int64_t>(sources)),
              sources, 1 + (sources + count) % 8, count))
              << name(dtype) << " " << sources << " x " << count;
}

TEST(ReadySum, IsNotForWhatTakesMoreThanAPass) {
  const auto of = [](ReduceOp op, DType dtype, Accumulation accumulation, std::size_t sources,
                     std::size_t targets) {
    return ReadySum::of(make_arithmetic(op, dtype, accumulation, 2), sources, targets).has_value();
  };
  EXPECT_TRUE(of(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 9, 8));
  EXPECT_FALSE(of(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 10, 8));
  EXPECT_FALSE(of(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 9, 9));
  EXPECT_FALSE(of(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 0, 1));
  EXPECT_FALSE(of(ReduceOp::kMax, DType::kFloat32, Accumulation::kWide, 2, 1));
  EXPECT_FALSE(of(ReduceOp::kSum, DType::kInt32, Accumulation::kWide, 2, 1));
  EXPECT_FALSE(of(ReduceOp::kSum, DType::kBFloat16, Accumulation::kNative, 2, 1));
}

}  // namespace
}  // namespace fanin
