#include "executor/window_plan.h"

#include <gmock/gmock.h>

#include <thread>

#include "executor/test_data.h"
#include "executor/test_plans.h"
#include "fanin/error.h"
#include "schedule/goal.h"
#include "schedule/test_schedules.h"
#include "transports/in_process.h"

namespace fanin {
namespace {

/// Runs `body(rank, transport)` on a thread for each rank.
template <typename Body>
void on_all_ranks(int rank_count, std::size_t window_bytes, Body&& body) {
  auto transports = make_in_process(rank_count, window_bytes);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < rank_count; ++rank)
    threads.emplace_back([&, rank] { body(rank, *transports[static_cast<std::size_t>(rank)]); });
}

/// The whole windows of a transport.
std::vector<std::byte*> windows_of(Transport& transport) {
  std::vector<std::byte*> begins;
  for (int rank = 0; rank < transport.size(); ++rank)
    begins.push_back(transport.window(rank).data());
  return begins;
}

std::vector<Schedule> schedules_for_threads() {
  return {ring_of_3(),   tree_of_4(),      servers_for_3(),
          reduce_of_3(), broadcast_of_3(), everyone_of_20()};
}

class WindowPlanOfRooms : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Rooms, WindowPlanOfRooms, testing::Bool(), [](const auto& rooms) {
  return rooms.param ? "ThatAllWrite" : "ThatEachWritesForItself";
});

TEST_P(WindowPlanOfRooms, GivesTheSchedulesSumInRoomsOfAnySize) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  for (const Schedule& schedule : schedules_for_threads()) {
    const auto proved = proof_of(schedule);
    for (const std::size_t window_bytes : {std::size_t{1} << 16, std::size_t{1} << 20}) {
      for (const auto& counts :
           std::vector<std::vector<std::size_t>>{{0}, {1}, {100, 0, 3}, {30'000, 17, 5'000}}) {
        const Layout layout(counts, schedule.chunk_count, sizeof(float));
        std::vector<std::vector<float>> rows;
        for (int rank = 0; rank < schedule.rank_count; ++rank)
          rows.push_back(mixed_floats(layout.element_count(), static_cast<unsigned>(rank) + 1));
        std::vector<std::vector<float>> results(rows.size(),
                                                std::vector<float>(layout.element_count(), -1.0F));
        on_all_ranks(schedule.rank_count, window_bytes, [&](int rank, Transport& transport) {
          const auto at = static_cast<std::size_t>(rank);
          std::vector<const std::byte*> inputs;
          std::vector<std::byte*> outputs;
          std::size_t start = 0;
          for (const std::size_t count : counts) {
            inputs.push_back(reinterpret_cast<const std::byte*>(rows[at].data() + start));
            outputs.push_back(reinterpret_cast<std::byte*>(results[at].data() + start));
            start += count;
          }
          WindowPlan plan(proved, layout, sum, rank,
                          {.bytes_of_rank = window_bytes - 1024,
                           .flag_count = transport.flag_count(),
                           .is_shared = GetParam()},
                          Context::process());
          std::vector<std::byte*> rooms = windows_of(transport);
          for (std::byte*& room : rooms) room += 1024;
          std::uint64_t wave_base = 0;
          Call call{.describe = [] { return "test"; }};
          plan.run(transport, wave_base, inputs, outputs, call, {rooms});
          EXPECT_EQ(wave_base, plan.wave_count());
        });
        const auto expected = evaluate(schedule, schedule.root.value_or(0), rows, layout);
        for (int rank = 0; rank < schedule.rank_count; ++rank) {
          if (!wants(schedule, rank, 0)) continue;
          ASSERT_EQ(results[static_cast<std::size_t>(rank)], expected)
              << schedule.name << ", rank " << rank << ", " << layout.element_count();
        }
      }
    }
  }
}

TEST(WindowPlan, TouchesOnlyItsRooms) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  const auto proved = proof_of(ring_of_3());
  const Layout layout({10'000}, 3, sizeof(float));
  on_all_ranks(3, 1 << 16, [&](int rank, Transport& transport) {
    const auto other = transport.open(1, 0, std::array{0, 1, 2}, 0);
    const std::vector<std::byte> before(transport.window(rank).begin(),
                                        transport.window(rank).end());
    const std::vector<float> ones(layout.element_count(), 1.0F);
    std::vector<float> result(layout.element_count());
    const auto* const in = reinterpret_cast<const std::byte*>(ones.data());
    auto* const out = reinterpret_cast<std::byte*>(result.data());
    WindowPlan plan(proved, layout, sum, rank, {1 << 16, 64}, Context::process());
    std::uint64_t wave_base = 0;
    Call call{.describe = [] { return "test"; }};
    plan.run(transport, wave_base, {&in, 1}, {&out, 1}, call, {windows_of(*other)});
    EXPECT_EQ(result, std::vector<float>(layout.element_count(), 3.0F));
    EXPECT_TRUE(std::ranges::equal(before, transport.window(rank))) << "these were not meant";
  });
}

TEST(WindowPlan, SharesPlacesOnlyOfCellsOfTheSameSize) {
  const auto can_share = [](ReduceOp op, DType dtype) {
    return WindowPlan::can_share_places(make_arithmetic(op, dtype, Accumulation::kWide, 3));
  };
  EXPECT_TRUE(can_share(ReduceOp::kSum, DType::kFloat32));
  EXPECT_TRUE(can_share(ReduceOp::kMean, DType::kFloat64));
  EXPECT_TRUE(can_share(ReduceOp::kSum, DType::kInt32));
  EXPECT_FALSE(can_share(ReduceOp::kSum, DType::kFloat16)) << "partial sums are float32";
  EXPECT_FALSE(can_share(ReduceOp::kMean, DType::kInt32)) << "means are float64";
}

TEST(WindowPlan, HandsOverLessOftenWhereRanksShareCores) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  const auto waves = [&](bool share) {
    return WindowPlan(proof_of(ring_of_3()), Layout({1 << 20}, 3, 4), sum, 0, {1 << 22, 64, share},
                      Context::process())
        .wave_count();
  };
  EXPECT_EQ(waves(false), 17);
  EXPECT_EQ(waves(true), 9);
}

TEST(WindowPlan, SaysForWhomItWaitedAndWhere) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  auto transports = make_in_process(3, 1 << 16);
  WindowPlan plan(proof_of(ring_of_3()), Layout({1}, 3, 4), sum, 0, {1 << 16, 64},
                  Context::process());
  EXPECT_THAT(sentence_alone(plan, *transports[0], WindowPlan::Rooms{windows_of(*transports[0])}),
              testing::AllOf(testing::HasSubstr("the test's sum"),
                             testing::HasSubstr("level 2 of 3, block 1 of 1")));
}

TEST(WindowPlan, GivesWay) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  const auto proved = proof_of(ring_of_3());
  auto transports = make_in_process(3, 1 << 16);
  std::vector<std::uint64_t> wave_bases(3);
  expect_gives_way(3, [&](int rank, Call& call) {
    const auto at = static_cast<std::size_t>(rank);
    sum_ones_of_3(
        WindowPlan(proved, Layout({9}, 3, 4), sum, rank, {1 << 16, 64}, Context::process()),
        *transports[at], wave_bases[at], call, WindowPlan::Rooms{windows_of(*transports[at])});
  });
}

TEST(WindowPlan, RefusesAWindowThatIsTooSmall) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 20);
  try {
    WindowPlan(proof_of(everyone_of_20()), Layout({1}, 1, 4), sum, 0, {64, 64}, Context::process());
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("do not fit into a window of 64 bytes"));
  }
}

TEST(WindowPlan, RefusesMoreLevelsThanThereAreFlags) {
  const Arithmetic sum = make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  EXPECT_THROW(WindowPlan(proof_of(ring_of_3()), Layout({1}, 3, 4), sum, 0, {1 << 16, 4},
                          Context::process()),
               InvalidArgument);
}

}  // namespace
}  // namespace fanin
