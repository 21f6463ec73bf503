#include "fanin/cross_device_ops.h"

#include <gmock/gmock.h>

#include <thread>

#include "core/expect_error.h"
#include "distribute/test_replicas.h"
#include "fanin/all_reduce_cross_device_ops.h"
#include "fanin/reduction_to_one_device.h"

namespace fanin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

IndexedSlices slices(std::vector<float> values, std::vector<int> indices, const Device& device) {
  const auto rows = static_cast<std::int64_t>(indices.size());
  return {Tensor::of<float>(std::span<const float>(values), {rows}, device),
          Tensor::of<int>(std::span<const int>(indices), {rows}, device), Shape{5}};
}

TEST(CrossDeviceOps, GivesEveryDestinationTheSum) {
  for (const int count : {1, 2, 3, 5, 8}) {
    const std::vector<Device> devices = gpus(count);
    const PerReplica value = counted_on(devices, 1000);
    for (const auto& ops : std::initializer_list<std::shared_ptr<CrossDeviceOps>>{
             std::make_shared<ReductionToOneDevice>(),
             std::make_shared<HierarchicalCopyAllReduce>(3), std::make_shared<NcclAllReduce>()}) {
      const Result result = ops->reduce(ReduceOp::kSum, value, value);
      for (const Device& device : devices)
        EXPECT_EQ(floats_on(result, device), counted_sum(count, 1000)) << count;
      EXPECT_EQ(std::holds_alternative<Mirrored>(result), count > 1);
    }
  }
}

TEST(CrossDeviceOps, GivesOneDestinationABareValue) {
  const Result result =
      NcclAllReduce().reduce(ReduceOp::kMean, counted_on(gpus(2), 3), "/job:worker/task:1/gpu:7");
  const Device device = parse_device("/job:worker/task:1/gpu:7");
  ASSERT_TRUE(std::holds_alternative<Value>(result));
  EXPECT_THAT(floats_on(result, device), ElementsAre(1.5F, 2.5F, 3.5F));
  expect_error(ErrorKind::kBadDevice, HasSubstr("there is no component on"),
               [&] { value_on(result, Device{}); });
}

TEST(CrossDeviceOps, KeepsTheOrderOfABatchOfManyKinds) {
  const std::vector<Device> two = gpus(2);
  std::vector<ReducePair> pairs;
  pairs.push_back({counted_on(two, 10), two[1]});
  pairs.push_back({counted_on(gpus(3), 20), Destinations(counted_on(two, 0))});
  pairs.push_back({PerReplica({slices({1}, {4}, two[0]), slices({2}, {0}, two[1])}), two[0]});
  pairs.push_back(
      {PerReplica(two, std::vector{Tensor::of<int>({7}, {}), Tensor::of<int>({8}, {})}), two[0]});
  pairs.push_back({counted_on(two, 0), two[0]});
  const auto results = HierarchicalCopyAllReduce().batch_reduce(ReduceOp::kSum, pairs);
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(floats_on(results[0], two[1]), counted_sum(2, 10));
  EXPECT_EQ(floats_on(results[1], two[0]), counted_sum(3, 20));
  const auto& sparse = std::get<IndexedSlices>(value_on(results[2], two[0]));
  EXPECT_THAT(sparse.indices.to_vector<int>(), ElementsAre(4, 0));
  EXPECT_THAT(std::get<Tensor>(value_on(results[3], two[0])).to_vector<int>(), ElementsAre(15));
  EXPECT_TRUE(floats_on(results[4], two[0]).empty());
  EXPECT_TRUE(HierarchicalCopyAllReduce().batch_reduce(ReduceOp::kSum, {}).empty());
}

TEST(CrossDeviceOps, SharesOneBufferAndCopiesNoGradients) {
  constexpr std::size_t kCount = 1 << 20;
  const std::vector<Device> devices = gpus(4);
  std::vector<ReducePair> pairs;
  for (int i = 0; i < 3; ++i) {
    const PerReplica value = counted_on(devices, kCount);
    pairs.push_back({value, value});
  }
  const NcclAllReduce ops(2);
  Context& context = Context::process();
  const auto warm = ops.batch_reduce(ReduceOp::kSum, pairs);
  context.buffers().reset_peak();
  const std::size_t before = context.memory().now_bytes;
  const auto results = ops.batch_reduce(ReduceOp::kSum, pairs);
  EXPECT_LE(context.memory().peak_bytes - before, 3 * kCount * sizeof(float) + 1024)
      << "packing must be by views";
  const auto& mirrored = std::get<Mirrored>(results[0]);
  EXPECT_EQ(std::get<Tensor>(mirrored.values()[0]).bytes().data(),
            std::get<Tensor>(mirrored.values()[3]).bytes().data());
}

TEST(CrossDeviceOps, MayBeCalledByManyThreads) {
  const NcclAllReduce ops;
  const PerReplica value = counted_on(gpus(3), 5000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(floats_on(ops.reduce(ReduceOp::kSum, value, "/gpu:0"), gpus(1)[0]),
                  counted_sum(3, 5000));
    });
}

TEST(CrossDeviceOps, BroadcastsDenseAndSparse) {
  const PerReplica there = counted_on(gpus(3), 1);
  const Result dense = NcclAllReduce().broadcast(counted(0, 4), there);
  EXPECT_EQ(floats_on(dense, gpus(3)[2]), counted_sum(1, 4));
  const Result sparse =
      NcclAllReduce().broadcast(slices({1}, {2}, Device{}), Variable(counted(0, 1)));
  EXPECT_TRUE(std::holds_alternative<IndexedSlices>(std::get<Value>(sparse)));
}

TEST(CrossDeviceOps, RefusesWhatCannotBe) {
  const NcclAllReduce ops;
  const std::vector<Device> two = gpus(2);
  const PerReplica value = counted_on(two, 3);
  expect_error(ErrorKind::kBadReduceOp, HasSubstr("9"),
               [&] { ops.batch_reduce(static_cast<ReduceOp>(9), {}); });
  expect_error(ErrorKind::kEmpty,
               "a value without components cannot be reduced; give one for each replica",
               [&] { ops.reduce(ReduceOp::kSum, PerReplica(), "/cpu:0"); });
  expect_error(ErrorKind::kBadOption, HasSubstr("bytes_per_pack"),
               [&] { ops.reduce(ReduceOp::kSum, value, "/cpu:0", {.bytes_per_pack = -1}); });
  expect_error(ErrorKind::kShapeMismatch, HasSubstr("[3]"), [&] {
    ops.reduce(ReduceOp::kSum, PerReplica(two, std::vector{counted(0, 3), counted(1, 4)}), value);
  });
  const PerReplica sparse({slices({1}, {4}, two[0]), slices({2}, {0}, two[1])});
  expect_error(ErrorKind::kBadReduceOp, "MAX of sparse values is not defined; use SUM or MEAN",
               [&] { ops.reduce(ReduceOp::kMax, sparse, value); });
  expect_error(ErrorKind::kTimeout, HasSubstr("was not done by its deadline"), [&] {
    ops.reduce(ReduceOp::kSum, counted_on(two, 4'000'000), "/cpu:0", {.timeout_seconds = 1e-9});
  });
  expect_error(ErrorKind::kBadOption,
               "there is no algorithm \"telepathy\" for an AllReduceCrossDeviceOps; use nccl or "
               "hierarchical_copy",
               [] { AllReduceCrossDeviceOps("telepathy"); });
}

TEST(CrossDeviceOps, ExplainsWhatItWouldDo) {
  const std::vector<Device> two = gpus(2);
  const PerReplica sparse({slices({1}, {4}, two[0]), slices({2}, {0}, two[1])});
  const std::vector<ReducePair> pairs = {{counted_on(two, 100), two[0]}, {sparse, two[0]}};
  const ReductionPlan plan = NcclAllReduce().plan(
      ReduceOp::kSum, pairs, {.bytes_per_pack = 64, .implementation = Implementation::kRing});
  ASSERT_EQ(plan.packs.size(), 1U);
  EXPECT_EQ(plan.packs[0].algorithm, "direct");
  EXPECT_THAT(plan.notes, Contains(HasSubstr("implementation RING is a hint")));
  EXPECT_THAT(plan.notes, Contains(HasSubstr("devices named GPU are memory of this host")));
  EXPECT_THAT(plan.notes, Contains("value 1 is sparse: its slices are joined, not packed"));
  const ReductionToOneDevice one("/cpu:3", [](auto terms) { return terms[0]; });
  const std::vector<std::string> notes =
      one.plan(ReduceOp::kSum, pairs, {.bytes_per_pack = 64}).notes;
  EXPECT_THAT(notes, Contains("sums on /job:localhost/replica:0/task:0/device:CPU:3"));
  EXPECT_THAT(notes, Contains("bytes_per_pack 64 is not used: each tensor is reduced alone"));
  EXPECT_THAT(notes, Contains(HasSubstr("accumulation_fn sums dense values")));
}

TEST(ReductionToOneDevice, TellsOnceThatItDoesNotCallTheFunctionForSparseValues) {
  const std::vector<Device> two = gpus(2);
  const PerReplica sparse({slices({1}, {4}, two[0]), slices({2}, {0}, two[1])});
  int calls = 0;
  std::vector<std::string> warnings;
  Context::process().on_warning([&](std::string_view text) { warnings.emplace_back(text); });
  const ReductionToOneDevice ops({}, [&](std::span<const Tensor> terms) {
    ++calls;
    return terms[0];
  });
  ops.reduce(ReduceOp::kSum, sparse, two[0]);
  ops.reduce(ReduceOp::kMean, sparse, two[0]);
  ReductionToOneDevice().reduce(ReduceOp::kSum, sparse, two[0]);
  Context::process().on_warning({});
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(warnings,
              ElementsAre("accumulation_fn is not called for sparse values: their slices are "
                          "joined"));
}

TEST(ReductionToOneDevice, SumsByTheCallersFunction) {
  const ReductionToOneDevice last({}, [](std::span<const Tensor> terms) { return terms.back(); });
  const PerReplica value = counted_on(gpus(4), 2);
  EXPECT_THAT(floats_on(last.reduce(ReduceOp::kSum, value, "/cpu:0"), Device{}), ElementsAre(4, 5));
  EXPECT_THAT(floats_on(last.reduce(ReduceOp::kMean, value, "/cpu:0"), Device{}),
              ElementsAre(1, 1.25F));
  EXPECT_THAT(floats_on(last.reduce(ReduceOp::kMin, value, "/cpu:0"), Device{}), ElementsAre(1, 2));
  expect_error(ErrorKind::kBadDevice, HasSubstr("/nowhere:1"),
               [] { ReductionToOneDevice("/nowhere:1"); });
}

TEST(CrossDeviceOps, KeepsPlansApartByAllThatTheyDependOn) {
  const NcclAllReduce ops;
  const std::vector<Device> devices = gpus(3);
  for (int round = 0; round < 2; ++round)
    for (const std::size_t count : {4, 9}) {
      const PerReplica value = counted_on(devices, count);
      EXPECT_EQ(floats_on(ops.reduce(ReduceOp::kSum, value, value), devices[0]),
                counted_sum(3, count));
      EXPECT_EQ(floats_on(ops.reduce(ReduceOp::kMax, value, value), devices[0]),
                counted(2, count).to_vector<float>());
    }
}

}  // namespace
}  // namespace fanin
