#include "fanin/multi_worker_all_reduce.h"

#include <gmock/gmock.h>

#include "core/expect_error.h"
#include "distribute/test_groups.h"
#include "distribute/test_replicas.h"

namespace fanin {
namespace {

using testing::HasSubstr;

std::vector<std::string> workers(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("/job:worker/task:" + std::to_string(i));
  return names;
}

std::vector<Device> world(int worker_count, int gpu_count) {
  std::vector<Device> devices;
  for (int worker = 0; worker < worker_count; ++worker)
    for (int gpu = 0; gpu < gpu_count; ++gpu)
      devices.push_back({.job = "worker", .task = worker, .type = "GPU", .index = gpu});
  return devices;
}

TEST(MultiWorkerAllReduce, IsRightForEverySpecAndTopology) {
  for (const char* spec :
       {"nccl", "xring#2", "rechd", "pscpu#3", "psgpu", "pscpu/pscpu#2", "nccl/xring", "nccl/rechd",
        "nccl/pscpu", "rechd/psgpu#5", "pscpu#2:32K:nccl/xring"})
    for (const auto& [worker_count, gpu_count] :
         {std::pair(1, 1), {1, 3}, {2, 2}, {3, 1}, {5, 2}}) {
      const MultiWorkerAllReduce ops(workers(worker_count), gpu_count, {.all_reduce_spec = spec});
      const std::vector<Device> devices = world(worker_count, gpu_count);
      std::vector<ReducePair> pairs;
      for (const std::size_t count : {0, 1, 7, 1000, 20'000}) {
        const PerReplica value = counted_on(devices, count);
        pairs.push_back({value, value});
      }
      const auto results = ops.batch_reduce(ReduceOp::kSum, pairs);
      for (std::size_t i = 0; i < pairs.size(); ++i)
        EXPECT_EQ(
            floats_on(results[i], devices.back()),
            counted_sum(worker_count * gpu_count, floats_on(results[i], devices.front()).size()))
            << spec << " " << worker_count << "x" << gpu_count;
    }
}

TEST(MultiWorkerAllReduce, GivesOneDeviceAMirrored) {
  const MultiWorkerAllReduce ops(workers(1), 1);
  const PerReplica value = counted_on(world(1, 1), 3);
  EXPECT_TRUE(std::holds_alternative<Mirrored>(ops.reduce(ReduceOp::kSum, value, value)));
}

TEST(MultiWorkerAllReduce, TakesDevicesInAnyOrderAndOthersToo) {
  const MultiWorkerAllReduce ops(workers(2), 2, {.all_reduce_spec = "nccl/xring"});
  std::vector<Device> devices = world(2, 2);
  std::swap(devices[0], devices[3]);
  const PerReplica value = counted_on(devices, 9);
  EXPECT_EQ(floats_on(ops.reduce(ReduceOp::kSum, value, value), devices[1]), counted_sum(4, 9));
  const PerReplica others = counted_on(gpus(3), 9);
  EXPECT_EQ(floats_on(ops.reduce(ReduceOp::kSum, others, others), gpus(1)[0]), counted_sum(3, 9));
}

TEST(MultiWorkerAllReduce, PacksAsItIsToldUnlessACallSaysMore) {
  const MultiWorkerAllReduce ops(workers(2), 1, {.all_reduce_spec = "xring", .num_packs = 2});
  const std::vector<TensorInfo> tensors(4, {"t", DType::kFloat32, Shape{100}});
  EXPECT_EQ(ops.plan(ReduceOp::kSum, world(2, 1), tensors).packs.size(), 2U);
  EXPECT_EQ(ops.plan(ReduceOp::kSum, world(2, 1), tensors, {.bytes_per_pack = 400}).packs.size(),
            4U);
}

TEST(MultiWorkerAllReduce, RefusesWhatCannotBe) {
  expect_error(ErrorKind::kEmpty,
               "worker_devices is empty; name at least one worker, such as /job:worker/task:0",
               [] { MultiWorkerAllReduce({}, 1); });
  expect_error(ErrorKind::kBadOption, "num_gpus_per_worker is -1; use 0 or more",
               [] { MultiWorkerAllReduce(workers(1), -1); });
  expect_error(ErrorKind::kBadOption, HasSubstr("num_packs is -1"),
               [] { MultiWorkerAllReduce(workers(1), 1, {.num_packs = -1}); });
  expect_error(ErrorKind::kBadDevice, HasSubstr("nonsense"), [] {
    const std::vector<std::string> names = {"nonsense"};
    MultiWorkerAllReduce(names, 1);
  });
}

/// The components of the worker's own devices.
PerReplica own_of(const PerReplica& value, int worker) {
  std::vector<Value> own;
  for (const Value& each : value.values())
    if (device_of(each).task == worker) own.push_back(each);
  return PerReplica(std::move(own));
}

TEST(MultiWorkerAllReduce, IsTheSameWithAProcessForEachWorker) {
  for (const auto& [spec, num_packs] :
       {std::pair("nccl", 2), {"pscpu#2:64:nccl/xring", 2}, {"rechd/psgpu", 2}, {"xring", 0}}) {
    const auto outcomes = test::in_processes(3, [spec, num_packs](Group& group) {
      const MultiWorkerAllReduce ops(group, workers(3), 2,
                                     {.all_reduce_spec = spec, .num_packs = num_packs});
      const std::vector<Device> devices = world(3, 2);
      std::vector<ReducePair> pairs;
      for (const std::size_t count : {1, 9, 5000}) {
        const PerReplica mine = own_of(counted_on(devices, count), group.rank());
        pairs.push_back({mine, mine});
      }
      const auto results = ops.batch_reduce(ReduceOp::kSum, pairs);
      const Device last = devices[static_cast<std::size_t>(group.rank()) * 2 + 1];
      std::size_t i = 0;
      for (const std::size_t count : {1, 9, 5000})
        test::expect(floats_on(results[i++], last) == counted_sum(6, count), "a wrong sum");
    });
    EXPECT_THAT(outcomes, testing::Each(testing::IsEmpty())) << spec;
  }
}

TEST(MultiWorkerAllReduce, PacksByItselfWhereNobodySaysHow) {
  std::vector<Group> groups = in_process(1);
  const std::vector<TensorInfo> tensors(4, {"t", DType::kFloat32, Shape{100}});
  const auto notes = [&](const MultiWorkerAllReduceOptions& options,
                         const CommunicationOptions& of_call = {}) {
    const MultiWorkerAllReduce ops(groups[0], workers(1), 1, options);
    return ops.plan(ReduceOp::kSum, world(1, 1), tensors, of_call).notes;
  };
  const auto says_so = testing::Contains(HasSubstr("bytes_per_pack is 0: a reduction chooses it"));
  EXPECT_THAT(notes({}), says_so);
  EXPECT_THAT(notes({.num_packs = 2}), testing::Not(says_so));
  EXPECT_THAT(notes({.agg_small_grads_max_bytes = 10}), testing::Not(says_so));
  EXPECT_THAT(notes({}, {.bytes_per_pack = 400}), testing::Not(says_so));
}

TEST(MultiWorkerAllReduce, ChecksGroupsAndTheirDevices) {
  std::vector<Group> groups = in_process(1, test::Seconds(1));
  expect_error(ErrorKind::kBadOption, HasSubstr("2 workers are named, but the group has 1 ranks"),
               [&] { MultiWorkerAllReduce(groups[0], workers(2), 1); });
  const MultiWorkerAllReduce ops(groups[0], workers(1), 2);
  const PerReplica value = counted_on(gpus(3), 4);
  expect_error(ErrorKind::kBadDevice, HasSubstr("a value has 3 components"),
               [&] { ops.reduce(ReduceOp::kSum, value, value); });
}

}  // namespace
}  // namespace fanin
