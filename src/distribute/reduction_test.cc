#include "fanin/reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "core/expect_error.h"
#include "distribute/test_groups.h"
#include "engines/test_engine.h"
#include "fanin/plan.h"
#include "fanin/resync.h"
#include "transports/message_transport.h"

namespace fanin {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<TensorInfo> infos(const std::vector<std::int64_t>& counts,
                              DType dtype = DType::kFloat32) {
  std::vector<TensorInfo> tensors;
  for (const std::int64_t count : counts)
    tensors.push_back({"gradient " + std::to_string(tensors.size()), dtype, Shape{count}});
  return tensors;
}

ReductionPlan plan_of(int workers, int devices, std::vector<TensorInfo> tensors,
                      const Packing& packing = {.bytes_per_pack = 4000},
                      ReduceOp op = ReduceOp::kSum, const std::string& algorithm = "ring") {
  return plan_reduction({.op = op,
                         .topology = {workers, devices},
                         .tensors = std::move(tensors),
                         .packing = packing,
                         .choices = {{algorithm, 1, -1}}});
}

/// Numbers whose sum has other bits in another order.
float number(int replica, std::size_t tensor, std::size_t i) {
  return std::ldexp(
      std::sin(static_cast<float>(i + tensor * 7 + 1) * static_cast<float>(replica + 1)),
      static_cast<int>((i + static_cast<std::size_t>(replica) * 5) % 24));
}

/// The gradients of one replica, in memory that may be the outputs'.
struct Gradients {
  Gradients(const ReductionPlan& plan, int replica) {
    for (const TensorInfo& info : plan.request.tensors) {
      std::vector<float>& rows = numbers.emplace_back(info.shape.element_count());
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = number(replica, numbers.size() - 1, i);
    }
  }
  Tensor tensor(std::size_t index) const {
    return Tensor::view(std::span<const float>(numbers[index]),
                        Shape{static_cast<std::int64_t>(numbers[index].size())});
  }
  std::vector<TensorView> views() {
    std::vector<TensorView> all;
    for (std::vector<float>& rows : numbers)
      all.push_back(
          TensorView::over(std::span<float>(rows), Shape{static_cast<std::int64_t>(rows.size())}));
    return all;
  }
  std::vector<std::vector<float>> numbers;
};

TEST(Reduction, OfOneProcessEqualsARunWhateverTheOrder) {
  for (const Packing& packing :
       {Packing{}, Packing{.bytes_per_pack = 4000}, Packing{.num_packs = 3},
        Packing{.agg_small_grads_max_bytes = 1000, .agg_small_grads_max_group = 2}}) {
    Plan plan(plan_of(3, 1, infos({5, 0, 1000, 17, 2000, 1}), packing));
    std::vector<Gradients> replicas;
    for (int replica = 0; replica < 3; ++replica) replicas.emplace_back(plan.explain(), replica);
    std::vector<Tensor> inputs;
    for (const Gradients& each : replicas)
      for (std::size_t i = 0; i < 6; ++i) inputs.push_back(each.tensor(i));
    Gradients wanted(plan.explain(), 0);
    plan.run(inputs, wanted.views());

    for (const bool is_backward : {true, false}) {
      Gradients out(plan.explain(), 9);
      Reduction sums = plan.start(out.views());
      {
        std::vector<std::jthread> threads;
        for (int replica = 0; replica < 3; ++replica)
          threads.emplace_back([&, replica] {
            for (std::size_t i = 0; i < 6; ++i) {
              const std::size_t tensor = is_backward ? 5 - i : i;
              sums.push(tensor, replicas[static_cast<std::size_t>(replica)].tensor(tensor),
                        replica);
            }
          });
      }
      std::vector<const PlannedPack*> packs;
      for (const PlannedPack& pack : sums) packs.push_back(&pack);
      EXPECT_EQ(packs.size(), plan.explain().packs.size());
      EXPECT_EQ(packs.front(), plan.explain().packs.data());
      EXPECT_EQ(std::get<Tensor>(sums.wait(2)).to_vector<float>(), wanted.numbers[2]);
      sums.finish();
      EXPECT_EQ(out.numbers, wanted.numbers);
    }
  }
}

/// What each rank of a group has at the end of a step in place.
std::vector<std::vector<std::vector<float>>> step_in_place(std::vector<Group>& groups, int devices,
                                                           const ReductionPlan& plan) {
  std::vector<std::vector<std::vector<float>>> results(groups.size());
  test::on_all_ranks(groups, [&](Group& group) {
    Plan mine(plan, group);
    std::vector<Gradients> replicas;
    for (int device = 0; device < devices; ++device)
      replicas.emplace_back(plan, group.rank() * devices + device);
    Reduction sums = mine.start(replicas.front().views(), {.step = 7});
    for (std::size_t i = plan.request.tensors.size(); i-- > 0;)
      for (int device = 0; device < devices; ++device)
        sums.push(i, replicas[static_cast<std::size_t>(device)].tensor(i), device);
    sums.finish();
    results[static_cast<std::size_t>(group.rank())] = replicas.front().numbers;
  });
  return results;
}

TEST(Reduction, OfAGroupIsTheSumOfAllAndTheSameEverywhere) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax})
    for (const int ranks : {1, 2, 3, 5})
      for (const int devices : {1, 2, 3}) {
        const ReductionPlan plan = plan_of(ranks, devices, infos({300, 1, 900, 2000, 0, 33}),
                                           {.bytes_per_pack = 4000}, op);
        std::vector<Group> groups = in_process(ranks);
        const auto results = step_in_place(groups, devices, plan);
        EXPECT_THAT(results, Each(results.front()));
        for (std::size_t t = 0; t < 6; ++t)
          for (std::size_t i = 0; i < results[0][t].size(); ++i) {
            double wanted = op == ReduceOp::kMax ? -INFINITY : 0;
            double size = 0;
            for (int replica = 0; replica < ranks * devices; ++replica) {
              const double each = number(replica, t, i);
              wanted = op == ReduceOp::kMax ? std::max(wanted, each) : wanted + each;
              size += std::abs(each);
            }
            if (op == ReduceOp::kMean) wanted /= ranks * devices;
            ASSERT_NEAR(results[0][t][i], wanted, size * 1e-6) << t << " " << i;
          }
      }
}

TEST(Reduction, HasTheSameBitsAmongThreadsProcessesAndHosts) {
  const ReductionPlan plan = plan_of(4, 2, infos({300, 1, 9000, 2000, 33}),
                                     {.bytes_per_pack = 4000}, ReduceOp::kMean, "nccl/rechd");
  // Processes before there are threads: each tells what it found.
  const std::vector<std::string> told = test::in_processes(4, [&](Group& group) {
    Plan mine(plan, group);
    Gradients first(plan, group.rank() * 2);
    Gradients second(plan, group.rank() * 2 + 1);
    Reduction sums = mine.start(first.views());
    for (std::size_t i = 5; i-- > 0;) {
      sums.push(i, first.tensor(i), 0);
      sums.push(i, second.tensor(i), 1);
    }
    sums.finish();
    throw std::runtime_error(std::to_string(hash_of(first.views())));
  });
  std::vector<Group> threads = in_process(4);
  const auto wanted = step_in_place(threads, 2, plan);
  Gradients out(plan, 0);
  out.numbers = wanted.front();
  EXPECT_THAT(told, Each(std::to_string(hash_of(out.views()))));
  std::vector<Group> hosts;
  for (auto& transport : test::make_message_transports({0, 0, 2, 2}, 32 << 10))
    hosts.emplace_back(std::move(transport), test::Seconds(30));
  EXPECT_THAT(step_in_place(hosts, 2, plan), Each(wanted.front()));
}

TEST(Reduction, WorksWhereMpiServesOneThread) {
  std::vector<Group> groups;
  for (auto& engine : test::make_loop_engines({0, 0, 0}, false))
    groups.emplace_back(make_message_transport(std::move(engine)), test::Seconds(30));
  const ReductionPlan plan = plan_of(3, 1, infos({300, 1, 900, 2000}));
  std::vector<Group> threads = in_process(3);
  EXPECT_THAT(step_in_place(groups, 1, plan), Each(step_in_place(threads, 1, plan).front()));
}

TEST(Reduction, OfNarrowAndWideDtypes) {
  // float16, whose partial sums travel wide, and int64, whose means do not fit any dtype.
  std::vector<Group> groups = in_process(2);
  std::vector<std::vector<double>> means(2);
  std::vector<std::vector<std::uint16_t>> halves(2);
  test::on_all_ranks(groups, [&](Group& group) {
    std::vector<TensorInfo> tensors = {{"long", DType::kInt64, Shape{3}},
                                       {"half", DType::kFloat16, Shape{3}}};
    Plan plan(plan_of(2, 2, tensors, {.bytes_per_pack = 1 << 20}, ReduceOp::kMean), group);
    std::vector<double> mean(3);
    std::vector<std::uint16_t> half(3);
    const std::vector<TensorView> outputs = {
        TensorView::over(std::span<double>(mean), Shape{3}),
        {std::as_writable_bytes(std::span(half)), DType::kFloat16, Shape{3}}};
    Reduction sums = plan.start(outputs);
    const std::vector<std::uint16_t> large(3, 0x7B53);  // 60000
    for (const int replica : {1, 0}) {
      sums.push(1, Tensor::view(std::as_bytes(std::span(large)), DType::kFloat16, Shape{3}),
                replica);
      sums.push(0, Tensor::of<std::int64_t>({1 + replica, std::int64_t{1} << 62, 7}, Shape{3}),
                replica);
    }
    sums.finish();
    means[static_cast<std::size_t>(group.rank())] = mean;
    halves[static_cast<std::size_t>(group.rank())] = half;
  });
  EXPECT_THAT(means, Each(ElementsAre(1.5, std::ldexp(1.0, 62), 7)));
  EXPECT_THAT(halves, Each(ElementsAre(0x7B53, 0x7B53, 0x7B53)));
}

IndexedSlices slices(std::int64_t row, float value) {
  return {.values = Tensor::of<float>({value, value}, Shape{1, 2}),
          .indices = Tensor::of<std::int64_t>({row}, Shape{1}),
          .dense_shape = Shape{4, 2}};
}

TEST(Reduction, OfSparseGradients) {
  std::vector<TensorInfo> tensors = infos({3, 4});
  tensors.insert(tensors.begin(), {"table", DType::kFloat32, Shape{4, 2}, true});
  const auto step = [&](Plan& plan, int first_replica) {
    Gradients out(plan.explain(), 1);
    Reduction sums = plan.start(out.views());
    for (int replica = 0; replica < plan.replica_count(); ++replica) {
      for (const std::size_t i : {2U, 1U}) sums.push(i, out.tensor(i), replica);
      sums.push(0, slices(first_replica + replica, 4), replica);
    }
    const auto sum = std::get<IndexedSlices>(sums.wait(0));
    EXPECT_THAT(sum.indices.to_vector<std::int64_t>(), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(sum.values.to_vector<float>(), Each(1));
    sums.finish();
  };
  Plan local(plan_of(4, 1, tensors, {.bytes_per_pack = 100}, ReduceOp::kMean));
  EXPECT_TRUE(local.explain().packs.back().is_sparse);
  step(local, 0);
  std::vector<Group> groups = in_process(2);
  test::on_all_ranks(groups, [&](Group& group) {
    Plan plan(plan_of(2, 2, tensors, {.bytes_per_pack = 100}, ReduceOp::kMean), group);
    step(plan, group.rank() * 2);
  });
}

TEST(Reduction, UpdatesAVariableWhenItsSumIsThere) {
  std::vector<Group> groups = in_process(2);
  test::on_all_ranks(groups, [&](Group& group) {
    Plan plan(plan_of(2, 1, infos({10, 20}), {.bytes_per_pack = 40}), group);
    Gradients out(plan.explain(), 0);
    const Variable first(test::filled<float>(10, 1.0F), "first");
    const Variable second(test::filled<float>(20, 1.0F), "second");
    Reduction sums = plan.start(out.views());
    const auto replace = [](const Tensor&, const Value& sum) { return std::get<Tensor>(sum); };
    sums.update(first, replace, 0);
    sums.update(second, replace, 1);
    sums.push(1, test::filled<float>(20, 2.0F));
    // The first of the packs is there before the other has a gradient.
    while (sums.applied().empty()) std::this_thread::yield();
    EXPECT_THAT(second.value().to_vector<float>(), Each(4));
    EXPECT_THAT(first.value().to_vector<float>(), Each(1));
    sums.push(0, test::filled<float>(10, 3.0F));
    sums.finish();
    EXPECT_THAT(first.value().to_vector<float>(), Each(6));
    EXPECT_THAT(sums.applied(), ElementsAre(1, 0));
  });
}

TEST(Reduction, AFailedUpdateEndsTheStepOfAll) {
  std::vector<Group> groups = in_process(3, std::chrono::seconds(30));
  std::vector<std::string> errors(3);
  std::vector<std::vector<std::size_t>> applied(3);
  test::on_all_ranks(groups, [&](Group& group) {
    const auto at = static_cast<std::size_t>(group.rank());
    Plan plan(plan_of(3, 1, infos({10, 20}), {.bytes_per_pack = 40}), group);
    {
      Gradients out(plan.explain(), 0);
      Reduction sums = plan.start(out.views());
      std::atomic<bool> has_failed = false;
      sums.then(1, [&](const Value&) {
        if (group.rank() != 1) return;
        has_failed = true;
        throw std::runtime_error("no room");
      });
      sums.then(0, [](const Value&) {});
      sums.push(1, out.tensor(1));
      while (group.rank() == 1 ? !has_failed : sums.applied().empty()) std::this_thread::yield();
      errors[at] = test::error_of([&] {
        sums.push(0, out.tensor(0));
        sums.finish();
      });
      applied[at] = sums.applied();
    }
    // The next step works.
    Gradients out(plan.explain(), 0);
    Reduction sums = plan.start(out.views());
    for (const std::size_t i : {1U, 0U}) sums.push(i, out.tensor(i));
    sums.finish();
  });
  EXPECT_EQ(errors[1], "no room");
  for (const std::size_t other : {0U, 2U}) {
    EXPECT_THAT(errors[other], AllOf(HasSubstr("rank 1"), HasSubstr("an update failed")));
    EXPECT_THAT(applied[other], ElementsAre(1));
  }
  EXPECT_THAT(applied[1], IsEmpty());
}

TEST(Reduction, AStepThatIsLeftEndsThatOfAll) {
  std::vector<Group> groups = in_process(2, std::chrono::seconds(30));
  std::vector<std::string> errors(2);
  test::on_all_ranks(groups, [&](Group& group) {
    Plan plan(plan_of(2, 1, infos({10, 20}), {.bytes_per_pack = 40}), group);
    Gradients out(plan.explain(), 0);
    {
      Reduction sums = plan.start(out.views());
      sums.push(1, out.tensor(1));
      if (group.rank() == 0) return;
      sums.push(0, out.tensor(0));
      errors[1] = test::error_of([&] { sums.finish(); });
    }
  });
  EXPECT_THAT(errors[1], AllOf(HasSubstr("rank 0"), HasSubstr("gradient 0 of replica 0")));
}

TEST(Reduction, AStragglerOfAnotherStepIsAnError) {
  std::vector<Group> groups = in_process(2, std::chrono::seconds(30));
  test::on_all_ranks(groups, [&](Group& group) {
    Plan plan(plan_of(2, 1, infos({10})), group);
    Gradients out(plan.explain(), 0);
    Reduction sums = plan.start(out.views(), {.step = group.rank() == 0 ? 7 : 6});
    sums.push(0, out.tensor(0));
    EXPECT_THAT(test::error_of([&] { sums.finish(); }),
                HasSubstr("rank 0 has given step 7, rank 1 has step 6"));
  });
}

TEST(Reduction, SurvivorsGoOnWithoutTheOneThatLeft) {
  std::vector<Group> groups = in_process(3, std::chrono::seconds(30));
  std::latch have_finished(3);  // whoever is still in the last pack would hear that one has left
  test::on_all_ranks(groups, [&](Group& whole) {
    Group group = std::move(whole);
    std::vector<float> parameter(10, 1.0F);
    const std::vector<TensorView> parameters = {
        TensorView::over(std::span<float>(parameter), Shape{10})};
    {
      Plan plan(plan_of(3, 1, infos({10, 20}), {.bytes_per_pack = 40}), group);
      Gradients out(plan.explain(), 0);
      Reduction sums = plan.start(out.views());
      sums.then(1, [&](const Value&) { parameter[0] = static_cast<float>(group.rank()); });
      sums.push(1, out.tensor(1));
      sums.wait(1);
      sums.push(0, out.tensor(0));
      sums.finish();
      have_finished.arrive_and_wait();
      if (group.rank() == 1) return;
    }
    {
      Plan plan(plan_of(3, 1, infos({10})), group);
      Gradients out(plan.explain(), 0);
      Reduction sums = plan.start(out.views());
      sums.push(0, out.tensor(0));
      EXPECT_THAT(test::error_of([&] { sums.finish(); }), HasSubstr("rank 1"));
      EXPECT_THAT(sums.applied(), IsEmpty());
    }
    Group rest = group.shrink();
    EXPECT_THAT(test::error_of([&] { require_equal(rest, parameters); }),
                HasSubstr("no longer equal"));
    resync(rest, parameters, 1);
    EXPECT_EQ(parameter[0], 2.0F);
    Plan plan(plan_of(2, 1, infos({10})), rest);
    Gradients out(plan.explain(), 0);
    Reduction sums = plan.start(out.views());
    sums.push(0, out.tensor(0));
    sums.finish();
    require_equal(rest, parameters);
  });
}

TEST(Reduction, SaysWhatIsWrong) {
  using enum ErrorKind;
  Plan plan(plan_of(2, 1, infos({10, 20})));
  Gradients out(plan.explain(), 0);
  Reduction sums = plan.start(out.views(), {.timeout = std::chrono::milliseconds(20)});
  expect_error(kBadOption, "a reduction of this plan is under way; finish it before the next",
               [&] { plan.start(out.views()); });
  const Tensor ten = test::filled<float>(10, 1.0F);
  expect_error(kBadOption, HasSubstr("gradient 2 was pushed, but the plan has 2"),
               [&] { sums.push(2, ten); });
  expect_error(kBadOption, HasSubstr("replica 2 was named, but this process has 2"),
               [&] { sums.push(0, ten, 2); });
  expect_error(kShapeMismatch, "gradient 1 of replica 0 has shape [10], but [20] was planned",
               [&] { sums.push(1, ten); });
  expect_error(kDtypeMismatch, "gradient 0 of replica 0 is float64, but float32 was planned",
               [&] { sums.push(0, test::filled<double>(10, 1.0)); });
  expect_error(kSparseMismatch, "gradient 0 is sparse, but was planned dense",
               [&] { sums.push(0, slices(0, 1)); });
  sums.push(0, ten);
  expect_error(kBadOption, "gradient 0 of replica 0 was pushed twice; sum its terms before",
               [&] { sums.push(0, ten); });
  expect_error(kBadOption,
               "gradient 1 of replica 0 was not pushed; push every gradient before finish()",
               [&] { sums.finish(); });
  expect_error(kTimeout, "gradient 1 of replica 0 was not pushed within 0.02 s",
               [&] { sums.wait(0); });
  expect_error(kBadOption, HasSubstr("gradient 2 was named"), [&] { sums.wait(2); });
  sums.then(0, [](const Value&) {});
  expect_error(kBadOption, HasSubstr("the sum of gradient 0 is applied already"),
               [&] { sums.then(0, [](const Value&) {}); });
  expect_error(kBadOption, HasSubstr("gradient 5 was named"),
               [&] { sums.then(5, [](const Value&) {}); });
  sums.cancel("enough");
  expect_error(kCancelled, "the step was ended: enough", [&] { sums.finish(); });
  std::vector<Group> groups = in_process(1);
  expect_error(kBadOption, HasSubstr("the plan is for 2 workers, but the group has 1 ranks"),
               [&] { Plan(plan_of(2, 1, infos({1})), groups[0]); });
}

}  // namespace
}  // namespace fanin
