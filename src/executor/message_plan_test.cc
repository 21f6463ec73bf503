#include "executor/message_plan.h"

#include <gmock/gmock.h>

#include <thread>

#include "executor/test_data.h"
#include "executor/test_plans.h"
#include "fanin/error.h"
#include "schedule/goal.h"
#include "schedule/test_schedules.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using std::chrono::milliseconds;

std::vector<std::unique_ptr<Transport>> transports_of(int rank_count) {
  return test::make_message_transports(std::vector<int>(static_cast<std::size_t>(rank_count), 0));
}

const Arithmetic& sum() {
  static const Arithmetic arithmetic =
      make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  return arithmetic;
}

/// The results of all ranks, by blocks of so many bytes; where asked for, the inputs are the
/// outputs' memory.
std::vector<std::vector<float>> run(const Schedule& schedule, const Layout& layout,
                                    const std::vector<std::size_t>& counts,
                                    std::optional<std::size_t> block_bytes,
                                    std::vector<std::vector<float>> rows, bool in_place) {
  const auto proved = proof_of(schedule);
  std::vector<std::vector<float>> results(rows.size(),
                                          std::vector<float>(layout.element_count(), -1.0F));
  if (in_place) results = rows;
  auto transports = transports_of(schedule.rank_count);
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < rows.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::vector<const std::byte*> inputs;
      std::vector<std::byte*> outputs;
      std::size_t start = 0;
      for (const std::size_t count : counts) {
        outputs.push_back(reinterpret_cast<std::byte*>(results[rank].data() + start));
        inputs.push_back(in_place ? outputs.back()
                                  : reinterpret_cast<std::byte*>(rows[rank].data() + start));
        start += count;
      }
      MessagePlan plan(proved, layout, sum(), static_cast<int>(rank), Context::process(),
                       block_bytes);
      std::uint64_t wave_base = 5;  // of runs before
      Call call{.describe = [] { return "test"; }};
      plan.run(*transports[rank], wave_base, inputs, outputs, call);
      EXPECT_EQ(wave_base, 5 + plan.wave_count());
    });
  threads.clear();
  return results;
}

TEST(MessagePlan, GivesTheSchedulesSumInWavesOfMessages) {
  struct Case {
    std::vector<std::size_t> counts;
    std::optional<std::size_t> block_bytes = std::nullopt;
  };
  const std::vector<Case> cases = {{{0}},
                                   {{1}},
                                   {{100, 0, 3}},
                                   {{30'000, 17, 5'000}},
                                   // Many waves, of whole lines and, of few ranks, of more.
                                   {{1'900, 3, 1'501}, 1},
                                   {{9'000, 3, 7'001}, 1'000}};
  for (const Schedule& schedule : {ring_of_3(), tree_of_4(), servers_for_3(), reduce_of_3(),
                                   broadcast_of_3(), everyone_of_20()}) {
    for (const auto& [counts, block_bytes] : cases) {
      if (block_bytes == 1'000 && schedule.rank_count > 4) continue;
      const Layout layout(counts, schedule.chunk_count, sizeof(float));
      std::vector<std::vector<float>> rows;
      for (int rank = 0; rank < schedule.rank_count; ++rank)
        rows.push_back(mixed_floats(layout.element_count(), static_cast<unsigned>(rank) + 1));
      const auto expected = evaluate(schedule, schedule.root.value_or(0), rows, layout);
      for (const bool in_place : {false, true}) {
        const auto results = run(schedule, layout, counts, block_bytes, rows, in_place);
        for (int rank = 0; rank < schedule.rank_count; ++rank) {
          if (!wants(schedule, rank, 0)) continue;
          ASSERT_TRUE(results[static_cast<std::size_t>(rank)] == expected)
              << schedule.name << ", rank " << rank << ", " << layout.element_count()
              << (in_place ? ", in place" : "");
        }
      }
    }
  }
}

TEST(MessagePlan, BlocksAreWholeLinesAsLongAsTheyMayBe) {
  const auto plan = [](std::size_t count, std::optional<std::size_t> block_bytes) {
    return MessagePlan(proof_of(ring_of_3()), Layout({count}, 3, 4), sum(), 0, Context::process(),
                       block_bytes);
  };
  EXPECT_EQ(plan(9'000, 1).block_elements(), 64U);
  EXPECT_EQ(plan(9'000, 1'000).block_elements(), 192U);
  EXPECT_EQ(plan(9'000, 1'000).wave_count(), 16U);
  EXPECT_EQ(plan(9'000, 100'000).wave_count(), 1U);
  EXPECT_EQ(plan(9'000, std::nullopt).wave_count(), 1U);
  EXPECT_EQ(plan(1'600'004, std::nullopt).wave_count(), 36U);
}

TEST(MessagePlan, SaysForWhomItWaitedAndWhere) {
  auto transports = transports_of(3);
  MessagePlan plan(proof_of(ring_of_3()), Layout({1}, 3, 4), sum(), 0, Context::process());
  EXPECT_THAT(sentence_alone(plan, *transports[0]),
              testing::AllOf(testing::HasSubstr("rank 0 waited"),
                             testing::HasSubstr("the test's sum (block 1 of 1)")));
}

TEST(MessagePlan, GivesWay) {
  const auto proved = proof_of(ring_of_3());
  auto transports = transports_of(3);
  std::vector<std::uint64_t> wave_bases(3);
  expect_gives_way(3, [&](int rank, Call& call) {
    const auto at = static_cast<std::size_t>(rank);
    sum_ones_of_3(MessagePlan(proved, Layout({9}, 3, 4), sum(), rank, Context::process()),
                  *transports[at], wave_bases[at], call);
  });
}

// A rank that only sends does not fill the memory of those who are slower.
TEST(MessagePlan, NobodyIsFlooded) {
  constexpr std::size_t kCount = 8 << 20;
  auto transports = transports_of(3);
  const auto proved = proof_of(broadcast_of_3());
  MessagePlan plan(proved, Layout({kCount}, proved->schedule().chunk_count, 4), sum(),
                   *proved->schedule().root, Context::process());
  std::vector<float> numbers(kCount, 1);
  auto* const output = reinterpret_cast<std::byte*>(numbers.data());
  const std::byte* const input = output;
  Call call{.timeout = milliseconds(100), .describe = [] { return "test"; }};
  std::uint64_t wave_base = 0;
  const std::size_t before = Context::process().buffers().stats().now_bytes;
  // The others never come.
  EXPECT_THROW(plan.run(*transports[static_cast<std::size_t>(*proved->schedule().root)], wave_base,
                        {&input, 1}, {&output, 1}, call),
               DeadlineExceeded);
  EXPECT_LT(Context::process().buffers().stats().now_bytes - before, kCount * sizeof(float) / 2);
}

}  // namespace
}  // namespace fanin
