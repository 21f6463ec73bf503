#include "executor/visible_plan.h"

#include <gmock/gmock.h>

#include "executor/test_data.h"
#include "executor/test_plans.h"
#include "schedule/test_schedules.h"
#include "transports/in_process.h"

namespace fanin {
namespace {

/// The buffers of three ranks that see each other's.
class Rows {
 public:
  explicit Rows(std::size_t count) {
    for (unsigned rank = 0; rank < 3; ++rank) {
      rows_.push_back(mixed_floats(count, rank + 1));
      results_.emplace_back(count, -1.0F);
    }
    for (std::size_t rank = 0; rank < 3; ++rank) {
      inputs_.push_back(reinterpret_cast<const std::byte*>(rows_[rank].data()));
      outputs_.push_back(reinterpret_cast<std::byte*>(results_[rank].data()));
    }
  }

  VisiblePlan::Buffers buffers(std::span<const Layout::Range> kept) const {
    return {.inputs = inputs_, .outputs = outputs_, .kept = kept, .renewal_counts = renewals_};
  }
  const std::vector<std::vector<float>>& rows() const { return rows_; }
  const std::vector<std::vector<float>>& results() const { return results_; }

 private:
  std::vector<std::vector<float>> rows_;
  std::vector<std::vector<float>> results_;
  std::vector<const std::byte*> inputs_;
  std::vector<std::byte*> outputs_;
  std::vector<std::uint64_t> renewals_ = {0, 0, 0};
};

const Arithmetic& sum() {
  static const Arithmetic arithmetic =
      make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  return arithmetic;
}

TEST(VisiblePlan, GivesTheSchedulesSumInBlocksAndWithPartsThatAreKept) {
  const Schedule ring = ring_of_3();
  const auto proved = proof_of(ring);
  // Less than a share, less than a block, and several blocks with what is kept across their
  // borders.
  for (const std::size_t count : {1U, 1000U, 2'000'001U}) {
    const Layout layout({count}, ring.chunk_count, sizeof(float));
    const std::vector<Layout::Range> across = {{count / 4, count / 2}, {count - 1, count}};
    for (const std::span<const Layout::Range> kept :
         {std::span<const Layout::Range>(), std::span<const Layout::Range>(across)}) {
      const Rows rows(count);
      auto transports = make_in_process(3, 1 << 16);
      std::vector<std::jthread> ranks;
      for (int rank = 0; rank < 3; ++rank)
        ranks.emplace_back([&, rank] {
          VisiblePlan plan(proved, layout, sum(), rank, Context::process());
          std::uint64_t wave_base = 0;
          Call call{.describe = [] { return "test"; }};
          plan.run(*transports[static_cast<std::size_t>(rank)], wave_base, rows.buffers(kept),
                   call);
        });
      ranks.clear();
      const auto expected = evaluate(ring, 0, rows.rows(), layout);
      for (const std::vector<float>& result : rows.results()) ASSERT_TRUE(result == expected);
    }
  }
}

TEST(VisiblePlan, GivesWay) {
  const auto proved = proof_of(ring_of_3());
  const Rows rows(9);
  auto transports = make_in_process(3, 1 << 16);
  std::vector<std::uint64_t> wave_bases(3);
  expect_gives_way(3, [&](int rank, Call& call) {
    const auto at = static_cast<std::size_t>(rank);
    VisiblePlan plan(proved, Layout({9}, 3, 4), sum(), rank, Context::process());
    plan.run(*transports[at], wave_bases[at], rows.buffers({}), call);
  });
}

}  // namespace
}  // namespace fanin
