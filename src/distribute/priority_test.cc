// What matters more goes first: among handles of a group, and among packs of a reduction.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <numeric>
#include <stdexcept>

#include "core/expect_error.h"
#include "core/sanitized.h"
#include "distribute/test_groups.h"
#include "fanin/group.h"
#include "fanin/plan.h"

namespace fanin {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr std::size_t kLong = kIsSanitized ? 1 << 20 : 8 << 20;
constexpr int kRounds = kIsSanitized ? 4 : 8;

TensorView view(std::vector<float>& row) {
  return TensorView::over(std::span<float>(row), Shape{static_cast<std::int64_t>(row.size())});
}

bool are_all(const std::vector<float>& row, float value) {
  return std::ranges::count(row, value) == static_cast<std::ptrdiff_t>(row.size());
}

Handle start(Group& group, std::vector<float>& row, int priority) {
  const std::vector<Tensor> inputs = {test::tensor_over(row)};
  const std::vector<TensorView> outputs = {view(row)};
  return group.start_all_reduce(inputs, outputs, {.priority = priority});
}

/// How often, of some rounds, a short sum of priority 1 was there before the long one of priority
/// `of_long` that was started before it.
int count_overtaken(Group& group, int of_long) {
  std::vector<float> long_row(kLong / (kIsSanitized ? 4 : 1), 1);
  std::vector<float> short_row(1000, 1);
  int count = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::ranges::fill(long_row, 1.0F);
    std::ranges::fill(short_row, 1.0F);
    const Handle first = start(group, long_row, of_long);
    const Handle second = start(group, short_row, 1);
    second.wait();
    if (!first.is_done()) ++count;
    first.wait();
    const auto size = static_cast<float>(group.size());
    EXPECT_TRUE(are_all(short_row, size));
    EXPECT_TRUE(are_all(long_row, size));
  }
  return count;
}

/// On a machine that is busy a round, or all of one attempt, may be without luck.
constexpr int kAttempts = 5;

/// Whether all ranks say so: they go on together.
bool do_all_say(Group& group, bool yes) {
  const Tensor all = group.all_reduce(test::filled(1, yes ? 1 : 0), {.op = ReduceOp::kMin});
  return all.to_vector<int>().front() == 1;
}

void require_overtaking(Group& group) {
  bool was_overtaken = false;
  for (int attempt = 0; attempt < kAttempts && !was_overtaken; ++attempt)
    was_overtaken = do_all_say(group, count_overtaken(group, 0) > 0);
  if (!was_overtaken) throw std::runtime_error("never overtaken");
  if (!do_all_say(group, count_overtaken(group, 1) == 0))
    throw std::runtime_error("overtaken by its like");
}

void expect_overtaking(Group& group) {
  EXPECT_EQ(test::error_of([&] { require_overtaking(group); }), "");
}

TEST(Priority, AShortHandleOvertakesALongOne) {
  // Processes before there are threads.
  EXPECT_THAT(test::in_processes(2, require_overtaking), Each(""));
  for (const int ranks : {2, 3}) {
    std::vector<Group> groups = in_process(ranks);
    test::on_all_ranks(groups, expect_overtaking);
  }
  std::vector<Group> hosts;
  for (auto& transport : test::make_message_transports({0, 1}))
    hosts.emplace_back(std::move(transport), test::Seconds(60));
  test::on_all_ranks(hosts, expect_overtaking);
}

// Both are as long, and each would get half of the cores.
TEST(Priority, TheOneThatIsOvertakenWaits) {
  constexpr int kMoreRounds = 2 * kRounds;
  std::vector<Group> groups = in_process(2);
  test::on_all_ranks(groups, [&](Group& group) {
    std::vector<float> usual(kLong, 1);
    std::vector<float> urgent(kLong, 1);
    bool has_waited = false;
    for (int attempt = 0; attempt < kAttempts && !has_waited; ++attempt) {
      int count = 0;
      for (int round = 0; round < kMoreRounds; ++round) {
        const Handle first = start(group, usual, 0);
        const Handle second = start(group, urgent, 1);
        second.wait();
        if (!first.is_done()) ++count;
        first.wait();
      }
      has_waited = do_all_say(group, count > kMoreRounds * 3 / 4);
    }
    EXPECT_TRUE(has_waited) << "not in three quarters of the rounds";
  });
}

TEST(Priority, BlockingCallsAndHandlesOfAllPrioritiesAtOnce) {
  std::vector<Group> groups = in_process(3);
  test::on_all_ranks(groups, [](Group& group) {
    for (int round = 0; round < 30; ++round) {
      std::vector<std::vector<float>> rows;
      std::vector<Handle> handles;
      for (const std::size_t count : {300'000U, 5U, 40'000U, 100U, 70'000U})
        rows.emplace_back(count, 1);
      for (std::size_t i = 0; i < rows.size(); ++i)
        handles.push_back(start(group, rows[i], (static_cast<int>(i) * 7 + round) % 4));
      std::vector<float> beside(50'000, 1);
      group.all_reduce(test::tensor_over(beside), view(beside), {.priority = round % 3});
      EXPECT_TRUE(are_all(beside, 3));
      handles.clear();
      for (const std::vector<float>& row : rows) EXPECT_TRUE(are_all(row, 3));
    }
  });
}

TEST(Priority, IsComparedAndNotNegative) {
  std::vector<Group> groups = in_process(2, test::Seconds(30));
  test::on_all_ranks(groups, [](Group& group) {
    const Tensor one = test::filled<float>(1, 1.0F);
    EXPECT_THAT(test::error_of([&] { group.all_reduce(one, {.priority = group.rank() * 3}); }),
                HasSubstr("rank 0 has priority 0, rank 1 has 3"));
    EXPECT_THAT(test::error_of([&] { group.all_gather(one, MoveOptions{.priority = -1}); }),
                HasSubstr("the priority of all_gather is -1; it must be 0 or more"));
  });
}

/// Gradients of one pack each, the last one first.
ReductionPlan plan_of(int workers, int devices, const std::vector<std::size_t>& counts,
                      ReduceOp op = ReduceOp::kSum) {
  std::vector<TensorInfo> tensors;
  for (const std::size_t count : counts)
    tensors.push_back({"gradient " + std::to_string(tensors.size()), DType::kFloat32,
                       Shape{static_cast<std::int64_t>(count)}});
  return plan_reduction({.op = op,
                         .topology = {workers, devices},
                         .tensors = std::move(tensors),
                         .packing = {.bytes_per_pack = 4},
                         .choices = {{"ring", 1, -1}}});
}

/// One step of plan_of(); the tensors in the order in which their packs finished.
std::vector<std::size_t> step(Group& group, Plan& plan, std::vector<std::vector<float>>& rows,
                              const ReductionOptions& options) {
  std::vector<TensorView> outputs;
  for (std::vector<float>& row : rows) {
    std::iota(row.begin(), row.end(), static_cast<float>(group.rank()));
    outputs.push_back(view(row));
  }
  const std::vector<std::vector<float>> second = rows;
  Reduction sums = plan.start(outputs, options);
  for (std::size_t i = rows.size(); i-- > 0;) {
    sums.push(i, test::tensor_over(rows[i]), 0);
    if (plan.replica_count() == 2) sums.push(i, test::tensor_over(second[i]), 1);
  }
  std::vector<std::size_t> order;
  for (const PlannedPack& pack : sums) order.push_back(pack.pack.pieces.front().tensor);
  sums.finish();
  return order;
}

TEST(Priority, APackOvertakesTheOneBefore) {
  std::vector<Group> groups = in_process(2);
  test::on_all_ranks(groups, [](Group& group) {
    Plan plan(plan_of(2, 1, {100, kLong, 100}), group);
    std::vector<std::vector<float>> rows = {std::vector<float>(100), std::vector<float>(kLong),
                                            std::vector<float>(100)};
    Trace trace;
    int overtaken = 0;
    for (int i = 0; i < 8; ++i) {
      ReductionOptions options{.priorities = {1, 0, 0}};
      options.plan_track = trace.add_track("plan");
      options.overtaking_track = trace.add_track("overtaking");
      const std::vector<std::size_t> order = step(group, plan, rows, options);
      EXPECT_EQ(order.front(), 2U);
      if (order[1] == 0) ++overtaken;
      for (const std::vector<float>& row : rows) EXPECT_EQ(row[50], 101);
      EXPECT_EQ(trace.take().events.size(), 3U);
    }
    EXPECT_GT(overtaken, 0);
    // Where none matters more, none overtakes.
    EXPECT_THAT(step(group, plan, rows, {.priorities = {1, 1, 0}}), testing::ElementsAre(2, 1, 0));
  });
}

TEST(Priority, ChangesNoBits) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean})
    for (const int devices : {1, 2}) {
      const std::vector<std::size_t> counts = {7, 100'000, 3'000, 0, 70'000, 12};
      std::vector<Group> groups = in_process(3);
      test::on_all_ranks(groups, [&](Group& group) {
        Plan plan(plan_of(3, devices, counts, op), group);
        std::vector<std::vector<float>> rows;
        for (const std::size_t count : counts) rows.emplace_back(count);
        step(group, plan, rows, {});
        const std::vector<std::vector<float>> wanted = rows;
        for (const std::vector<int>& priorities : std::vector<std::vector<int>>{
                 {6, 5, 4, 3, 2, 1}, {1, 0, 1, 0, 1, 0}, {0, 1, 2, 3, 4, 5}, {3, 0, 2, 0, 9, 1}})
          for (int round = 0; round < 5; ++round) {
            step(group, plan, rows, {.priorities = priorities});
            EXPECT_EQ(rows, wanted);
          }
      });
    }
}

TEST(Priority, AnErrorEndsTheStepWithPacksUnderWay) {
  std::vector<Group> groups = in_process(2, test::Seconds(30));
  std::vector<std::string> errors(2);
  test::on_all_ranks(groups, [&](Group& group) {
    Plan plan(plan_of(2, 1, {10, kLong, 20}), group);
    std::vector<std::vector<float>> rows = {std::vector<float>(10, 1), std::vector<float>(kLong, 1),
                                            std::vector<float>(20, 1)};
    const std::vector<TensorView> outputs = {view(rows[0]), view(rows[1]), view(rows[2])};
    {
      Reduction sums = plan.start(outputs, {.priorities = {2, 1, 0}});
      sums.push(2, test::tensor_over(rows[2]));
      sums.push(1, test::tensor_over(rows[1]));
      if (group.rank() == 1) sums.cancel("enough");
      errors[static_cast<std::size_t>(group.rank())] = test::error_of([&] {
        sums.push(0, test::tensor_over(rows[0]));
        sums.finish();
      });
    }
    EXPECT_EQ(step(group, plan, rows, {.priorities = {2, 1, 0}}).size(), 3U);
  });
  EXPECT_THAT(errors[0], testing::AllOf(HasSubstr("rank 1"), HasSubstr("enough")));
  EXPECT_EQ(errors[1], "the step was ended: enough");
}

// Both ranks count the second pack, though only one has begun it.
TEST(Priority, AnErrorEndsTheStepOfThoseWhoAreOnePackFurther) {
  std::vector<Group> groups = in_process(2, test::Seconds(30));
  test::on_all_ranks(groups, [](Group& group) {
    Plan plan(plan_of(2, 1, {10, 20}), group);
    std::vector<std::vector<float>> rows = {std::vector<float>(10), std::vector<float>(20)};
    const std::vector<TensorView> outputs = {view(rows[0]), view(rows[1])};
    for (int round = 0; round < 20; ++round) {
      Reduction sums = plan.start(outputs, {.step = group.rank(), .priorities = {1, 0}});
      if (group.rank() == 0) sums.push(0, test::tensor_over(rows[0]));
      sums.push(1, test::tensor_over(rows[1]));
      EXPECT_THAT(test::error_of([&] { sums.wait(1); }),
                  HasSubstr("rank 0 has given step 0, rank 1 has step 1"));
    }
    step(group, plan, rows, {.step = 7, .priorities = {1, 0}});
  });
}

TEST(Priority, APackIsNotBegunWhenItsStepHasEnded) {
  std::vector<Group> groups = in_process(2, test::Seconds(30));
  std::latch has_failed(1);
  test::on_all_ranks(groups, [&](Group& group) {
    Plan plan(plan_of(2, 1, {10, 20}), group);
    std::vector<std::vector<float>> rows = {std::vector<float>(10), std::vector<float>(20)};
    const std::vector<TensorView> outputs = {view(rows[0]), view(rows[1])};
    {
      Reduction sums =
          plan.start(outputs, {.timeout = test::Seconds(group.rank() == 0 ? 30 : 0.1)});
      sums.push(1, test::tensor_over(rows[1]));
      sums.wait(1);
      if (group.rank() == 0) has_failed.wait();
      sums.push(0, test::tensor_over(rows[0]));
      EXPECT_THAT(test::error_of([&] { sums.finish(); }),
                  HasSubstr(group.rank() == 0 ? "had not begun: rank 1 gave up" : "the deadline"));
      if (group.rank() == 1) has_failed.count_down();
    }
    step(group, plan, rows, {});
  });
}

TEST(Priority, AfterEveryErrorTheNextStepWorks) {
  std::vector<Group> groups = in_process(3, test::Seconds(30));
  std::vector<Group> hosts;
  for (auto& transport : test::make_message_transports({0, 1, 2}))
    hosts.emplace_back(std::move(transport), test::Seconds(30));
  for (std::vector<Group>* ranks : {&groups, &hosts})
    test::on_all_ranks(*ranks, [](Group& group) {
      const std::vector<std::size_t> counts = {10, 5000, 20, 9000, 3};
      Plan plan(plan_of(3, 1, counts), group);
      std::vector<std::vector<float>> rows;
      for (const std::size_t count : counts) rows.emplace_back(count, 1);
      std::vector<TensorView> outputs;
      for (std::vector<float>& row : rows) outputs.push_back(view(row));
      for (int round = 0; round < 90; ++round) {
        // In the last rounds all are, each at another place.
        const bool is_culprit = round >= 60 || group.rank() == round % 3;
        {
          Reduction sums = plan.start(
              outputs, {.step = round * 9 + (is_culprit && round % 4 == 0 ? group.rank() + 1 : 0),
                        .priorities = {4, 3, 2, 1, 0}});
          for (std::size_t i = 0; i < rows.size(); ++i)
            sums.then(i, [&, i](const Value&) {
              if (is_culprit && round % 4 == 1 && i == static_cast<std::size_t>(round) % 4)
                throw std::runtime_error("no room");
            });
          const std::string error = test::error_of([&] {
            for (std::size_t i = rows.size(); i-- > 0;) {
              if (is_culprit && round % 4 == 2 &&
                  i == static_cast<std::size_t>(round + group.rank() * 2) % 5)
                sums.cancel("enough");
              sums.push(i, test::tensor_over(rows[i]));
            }
            if (is_culprit && round % 4 == 3) return;  // leaves without a word
            sums.finish();
          });
          // Whoever left, or failed when the others had all sums already, fails alone.
          if (round % 4 == 0) {
            EXPECT_NE(error, "") << round;
          }
        }
        // Whoever has all sums may hear of the error only here.
        const auto sum = [&] { return group.all_reduce(test::filled<float>(1, 1.0F)); };
        Tensor one;
        if (test::error_of([&] { one = sum(); }) != "") one = sum();
        EXPECT_THAT(one.to_vector<float>(), Each(3)) << round;
      }
    });
}

TEST(Priority, OfAReductionIsCheckedAndCompared) {
  using enum ErrorKind;
  Plan alone(plan_of(2, 1, {1, 1}));
  std::vector<std::vector<float>> rows(2, std::vector<float>(1));
  const std::vector<TensorView> outputs = {view(rows[0]), view(rows[1])};
  expect_error(kBadOption, "3 priorities were given for 2 tensors; give one for each, or none",
               [&] {
                 alone.start(outputs, {.priorities = {1, 2, 3}});
               });
  expect_error(kBadOption, HasSubstr("the priority of gradient 1 is -1; it must be 0 or more"),
               [&] {
                 alone.start(outputs, {.priorities = {1, -1}});
               });
  std::vector<Group> groups = in_process(2, test::Seconds(30));
  test::on_all_ranks(groups, [](Group& group) {
    Plan plan(plan_of(2, 1, {10, 10}), group);
    std::vector<std::vector<float>> mine(2, std::vector<float>(10));
    EXPECT_THAT(test::error_of([&] {
                  step(group, plan, mine, {.priorities = {group.rank(), 0}});
                }),
                HasSubstr("rank 0 has priority 0, rank 1 has 1"));
  });
}

}  // namespace
}  // namespace fanin
