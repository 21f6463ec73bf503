#include "kernels/parallel_fold.h"

#include <gtest/gtest.h>

#include "kernels/fold_fixture.h"

namespace fanin {
namespace {

TEST(ParallelFold, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 5}) {
    Context context({.thread_count = threads});
    const auto run = [&](const Arithmetic& arithmetic, const Fold& fold) {
      parallel_fold(context, arithmetic, fold);
    };
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kInt8})
      for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 4095U, 30001U})
        for (const std::size_t sources : {1U, 2U, 17U}) {
          const auto groups = add_n_groups(sources);
          reference::Sample sample{
              .arithmetic = make_arithmetic(ReduceOp::kMean, dtype, Accumulation::kWide,
                                            static_cast<std::int64_t>(sources)),
              .source_count = sources,
              .group_sizes = {groups.begin(), groups.end()},
              .target_count = 2,
              .count = count,
              .source_offset = 3,
              .target_offset = 5};
          ASSERT_TRUE(reference::matches_naive(sample, run)) << threads << " threads";
        }
  }
}

TEST(ParallelFold, StreamsWhatIsLargerThanTheCache) {
  // Most machines have a smaller cache; elsewhere this is one more sum.
  Context context({.thread_count = 2});
  const std::size_t count = (std::size_t{40} << 20) / sizeof(float);
  const std::vector<float> term(count, 1.5F);
  const std::vector<Operand> sources(2, {reinterpret_cast<const std::byte*>(term.data())});
  std::vector<float> sum(count);
  std::byte* const target = reinterpret_cast<std::byte*>(sum.data());
  parallel_fold(context, make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 2),
                {.sources = sources, .targets = {&target, 1}, .count = count});
  EXPECT_EQ(std::count(sum.begin(), sum.end(), 3.0F), static_cast<std::ptrdiff_t>(count));
}

}  // namespace
}  // namespace fanin
