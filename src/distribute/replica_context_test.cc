#include "fanin/replica_context.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/expect_error.h"
#include "distribute/test_replicas.h"
#include "fanin/all_reduce_cross_device_ops.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> floats(const Value& value) { return std::get<Tensor>(value).to_vector<float>(); }

TEST(ReplicaContext, AllReducesListsInPacks) {
  for (const int count : {1, 2, 5}) {
    run_replicas(NcclAllReduce(), gpus(count), [&](ReplicaContext& context) {
      const std::vector<Value> values = {counted(context.replica_id(), 1000),
                                         counted(context.replica_id(), 0),
                                         counted(context.replica_id(), 7)};
      for (int step = 0; step < 3; ++step) {
        const auto sums = context.all_reduce(ReduceOp::kSum, values, {.bytes_per_pack = 64});
        ASSERT_EQ(sums.size(), 3U);
        EXPECT_EQ(floats(sums[0]), counted_sum(count, 1000));
        EXPECT_EQ(floats(sums[2]), counted_sum(count, 7));
        EXPECT_EQ(device_of(sums[0]), context.device());
      }
      context.barrier();
    });
  }
}

TEST(ReplicaContext, ReducesToADestination) {
  run_replicas(NcclAllReduce(), gpus(3), [](ReplicaContext& context) {
    EXPECT_EQ(context.replica_count(), 3);
    const Result result =
        context.reduce_to(ReduceOp::kMean, counted(context.replica_id(), 2), "/cpu:0");
    EXPECT_THAT(floats_on(result, Device{}), ElementsAre(2, 3));
  });
}

TEST(ReplicaContext, UpdatesAVariableOnItsDevices) {
  Variable weight(Tensor::of<float>({10}, {1}), gpus(2), "w");
  run_replicas(NcclAllReduce(), gpus(2), [&](ReplicaContext& context) {
    const Value gradient = context.all_reduce(ReduceOp::kSum, counted(context.replica_id(), 1));
    context.update(
        weight,
        [](const Tensor& value, const Tensor& sum) {
          return Tensor::of<float>({value.to_vector<float>()[0] - sum.to_vector<float>()[0]}, {1});
        },
        std::get<Tensor>(gradient));
    EXPECT_THAT(weight.value(context.device()).to_vector<float>(), ElementsAre(7));
  });
}

TEST(ReplicaContext, TellsEverybodyIfTheirCallsDiffer) {
  std::atomic<int> told = 0;
  run_replicas(NcclAllReduce(), gpus(3), [&](ReplicaContext& context) {
    const ReduceOp op = context.replica_id() == 2 ? ReduceOp::kMax : ReduceOp::kSum;
    expect_error(ErrorKind::kRankMismatch,
                 "the replicas' calls differ: replica 0 calls SUM of 1 values in packs of 0 bytes, "
                 "replica 2 calls MAX of 1 values in packs of 0 bytes",
                 [&] { context.all_reduce(op, counted(0, 1)); });
    ++told;
    EXPECT_EQ(floats(context.all_reduce(ReduceOp::kSum, counted(0, 1)))[0], 3) << "and goes on";
  });
  EXPECT_EQ(told, 3);
}

TEST(ReplicaContext, TellsEverybodyWhatIsWrongWithTheValues) {
  run_replicas(NcclAllReduce(), gpus(2), [](ReplicaContext& context) {
    const auto count = static_cast<std::size_t>(context.replica_id() + 1);
    expect_error(ErrorKind::kShapeMismatch, HasSubstr("[1]"),
                 [&] { context.all_reduce(ReduceOp::kSum, counted(0, count)); });
  });
}

TEST(ReplicaContext, DoesNotWaitForAReplicaThatHasEnded) {
  std::atomic<int> told = 0;
  const auto step = [&](ReplicaContext& context) {
    if (context.replica_id() == 1) throw std::runtime_error("out of luck");
    expect_error(ErrorKind::kPeerDied, "replica 1 has ended and does not take part any more",
                 [&] { context.barrier(); });
    ++told;
  };
  EXPECT_THROW(run_replicas(NcclAllReduce(), gpus(3), step), std::runtime_error);
  EXPECT_EQ(told, 2);
}

TEST(ReplicaContext, DoesNotWaitForAReplicaThatReturns) {
  std::atomic<int> told = 0;
  run_replicas(NcclAllReduce(), gpus(3), [&](ReplicaContext& context) {
    if (context.replica_id() == 1) {  // most often the others wait by then
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return;
    }
    expect_error(ErrorKind::kPeerDied, "replica 1 has ended and does not take part any more",
                 [&] { context.barrier(); });
    ++told;
  });
  EXPECT_EQ(told, 2);
}

TEST(ReplicaContext, NamesWhoDidNotComeInTime) {
  const auto step = [](ReplicaContext& context) {
    if (context.replica_id() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    expect_error(
        ErrorKind::kTimeout,
        "replica 0 did not come to SUM of 1 values in packs of 0 bytes within 0.01 s",
        [&] { context.all_reduce(ReduceOp::kSum, counted(0, 1), {.timeout_seconds = 0.01}); });
  };
  run_replicas(NcclAllReduce(), gpus(2), step);
}

TEST(ReplicaContext, NeedsAReplica) {
  expect_error(ErrorKind::kEmpty, "a step needs at least one replica; name a device",
               [] { run_replicas(NcclAllReduce(), {}, [](ReplicaContext&) {}); });
}

}  // namespace
}  // namespace fanin
