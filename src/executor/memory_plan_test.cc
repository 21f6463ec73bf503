#include "executor/memory_plan.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/count_allocations.h"
#include "executor/test_data.h"
#include "fanin/error.h"
#include "schedule/goal.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

/// A schedule with inputs for each rank and tensor, and outputs.
struct Data {
  Data(const Schedule& schedule, std::vector<std::size_t> tensor_counts)
      : counts(std::move(tensor_counts)), layout(counts, schedule.chunk_count, sizeof(float)) {
    for (int rank = 0; rank < schedule.rank_count; ++rank) {
      rows.push_back(mixed_floats(layout.element_count(), static_cast<unsigned>(rank) + 1));
      results.emplace_back(layout.element_count(), -1.0F);
    }
    std::size_t start = 0;
    for (std::size_t rank = 0; rank < rows.size(); ++rank, start = 0) {
      for (const std::size_t count : counts) {
        inputs.push_back(reinterpret_cast<const std::byte*>(rows[rank].data() + start));
        outputs.push_back(reinterpret_cast<std::byte*>(results[rank].data() + start));
        start += count;
      }
    }
  }

  std::vector<float> expected(const Schedule& schedule, int rank) const {
    return evaluate(schedule, rank, rows, layout);
  }

  std::vector<std::size_t> counts;
  Layout layout;
  std::vector<std::vector<float>> rows, results;
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
};

const Arithmetic kSum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);

TEST(MemoryPlan, GivesTheSchedulesSumForAnyTensorsAndThreads) {
  for (const Schedule& schedule : schedules_of_all_shapes()) {
    // The last one is several blocks long, in each of three chunks too.
    for (const auto& counts : std::vector<std::vector<std::size_t>>{
             {0}, {1}, {17}, {5, 0, 40, 1}, {}, {5'000, 3, 8'000}}) {
      Data data(schedule, counts);
      const auto inputs_before = data.rows;
      // The proof says that all ranks want the same, so one slow evaluation serves all.
      const auto expected = data.expected(schedule, schedule.root.value_or(0));
      for (const int threads : {1, 2, 3}) {
        Context context({.thread_count = threads});
        for (const Lowering lowering : {Lowering::kFused, Lowering::kLiteral}) {
          MemoryPlan plan(schedule, data.layout, kSum, Outputs::kSeparate, context, lowering);
          plan.run(data.inputs, data.outputs);
          for (int rank = 0; rank < schedule.rank_count; ++rank) {
            auto& result = data.results[static_cast<std::size_t>(rank)];
            if (!wants(schedule, rank, 0)) continue;
            ASSERT_EQ(result, expected)
                << schedule.name << ", rank " << rank << ", " << threads << " threads";
            std::ranges::fill(result, -1.0F);
          }
        }
      }
      EXPECT_EQ(data.rows, inputs_before) << "an input was written";
    }
  }
}

TEST(MemoryPlan, WritesOneBufferWhenOutputsAreShared) {
  const Schedule schedule = ring_of_3();
  Data data(schedule, {100});
  MemoryPlan plan(schedule, data.layout, kSum, Outputs::kShared, Context::process());
  plan.run(data.inputs, data.outputs);
  EXPECT_EQ(data.results[0], data.expected(schedule, 0));
  EXPECT_EQ(data.results[1], std::vector<float>(100, -1.0F));
}

TEST(MemoryPlan, MayWriteOverItsInputs) {
  for (const Schedule& schedule : {ring_of_3(), tree_of_4(), two_levels_of_132()}) {
    Data data(schedule, {5000});
    const auto expected = data.expected(schedule, 0);
    std::vector<std::byte*> in_place;
    for (auto& row : data.rows) in_place.push_back(reinterpret_cast<std::byte*>(row.data()));
    MemoryPlan plan(schedule, data.layout, kSum, Outputs::kSeparate, Context::process());
    plan.run(data.inputs, in_place);
    for (const auto& row : data.rows) ASSERT_EQ(row, expected) << schedule.name;
  }
}

TEST(MemoryPlan, RoundsHalvesOnceAndDividesBeforeThat) {
  const Schedule schedule = ring_of_3();
  const Layout layout({1}, 3, 2);
  const Float16 large(60000.0F);
  Float16 result(0.0F);
  const std::vector<const std::byte*> inputs(3, reinterpret_cast<const std::byte*>(&large));
  const std::vector<std::byte*> outputs(3, reinterpret_cast<std::byte*>(&result));
  MemoryPlan plan(schedule, layout,
                  make_arithmetic(ReduceOp::kMean, DType::kFloat16, Accumulation::kWide, 3),
                  Outputs::kShared, Context::process());
  plan.run(inputs, outputs);
  EXPECT_EQ(static_cast<float>(result), static_cast<float>(large));
}

TEST(MemoryPlan, DividesOnlyWhatIsFinished) {
  for (const Schedule& schedule : schedules_of_all_shapes()) {
    Data data(schedule, {3000, 5});
    const int rank_count = schedule.rank_count;
    const Arithmetic mean =
        make_arithmetic(ReduceOp::kMean, DType::kFloat32, Accumulation::kWide, rank_count);
    MemoryPlan plan(schedule, data.layout, mean, Outputs::kSeparate, Context::process());
    plan.run(data.inputs, data.outputs);
    const auto rank = static_cast<std::size_t>(schedule.root.value_or(0));
    auto expected = data.expected(schedule, static_cast<int>(rank));
    for (float& element : expected) element /= static_cast<float>(rank_count);
    EXPECT_EQ(data.results[rank], expected) << schedule.name;
  }
}

TEST(MemoryPlan, AllocatesNothingWhenItRuns) {
  Context context({.thread_count = 2});
  const Schedule schedule = two_levels_of_132();
  Data data(schedule, {3000, 7});
  MemoryPlan plan(schedule, data.layout, kSum, Outputs::kSeparate, context);
  plan.run(data.inputs, data.outputs);  // starts the pool's threads
  const auto before = allocation_count();
  const auto system_before = context.memory().allocation_count;
  for (int i = 0; i < 10; ++i) plan.run(data.inputs, data.outputs);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(context.memory().allocation_count, system_before);
}

TEST(MemoryPlan, RefusesAScheduleThatIsNotProved) {
  Schedule broken = tree_of_4();
  broken.rounds.pop_back();
  try {
    MemoryPlan(broken, Layout({1}, 1, 4), kSum, Outputs::kShared, Context::process());
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadSchedule);
    EXPECT_THAT(error.what(), testing::HasSubstr("tree: rank 1 ends with the input of rank 0"));
  }
}

TEST(MemoryPlan, RunsSeveralSchedulesAsOne) {
  const Schedule schedules[] = {ring_of_3(), servers_for_3()};
  const std::vector<MemoryPart> parts = {
      {&schedules[0], Layout({100, 7}, schedules[0].chunk_count, sizeof(int))},
      {&schedules[1], Layout({50}, schedules[1].chunk_count, sizeof(int))},
      {&schedules[0], Layout({0, 33}, schedules[0].chunk_count, sizeof(int))}};
  const std::size_t counts[] = {100, 7, 50, 0, 33};
  Context context({.thread_count = 2});
  MemoryPlan plan(parts, make_arithmetic(ReduceOp::kSum, DType::kInt32, Accumulation::kWide, 3),
                  Outputs::kSeparate, context);
  std::vector<std::vector<int>> inputs, outputs;
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (int rank = 0; rank < 3; ++rank)
    for (int tensor = 0; tensor < 5; ++tensor) {
      inputs.emplace_back(counts[tensor], 10 * tensor + rank);
      outputs.emplace_back(counts[tensor], -1);
    }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    from.push_back(reinterpret_cast<const std::byte*>(inputs[i].data()));
    to.push_back(reinterpret_cast<std::byte*>(outputs[i].data()));
  }
  plan.run(from, to);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(outputs[i], std::vector<int>(counts[i % 5], 30 * static_cast<int>(i % 5) + 3)) << i;
}

}  // namespace
}  // namespace fanin
