#include "fanin/plan.h"

#include <gmock/gmock.h>

#include "core/count_allocations.h"
#include "core/expect_error.h"
#include "distribute/test_replicas.h"

namespace fanin {
namespace {

constexpr std::size_t kCounts[] = {3, 0, 5000, 70'000};
constexpr int kReplicas = 4;

/// A plan for tensors of kCounts, with inputs and outputs.
class PlannedLists {
 public:
  PlannedLists(const Packing& packing, ResultBuffers buffers)
      : plan_(plan_reduction({.topology = {.worker_count = 2, .devices_per_worker = 2},
                              .tensors = infos(),
                              .packing = packing,
                              .choices = AllReduceSpec("pscpu#2:32K:nccl/xring").elements()}),
              buffers) {
    for (int replica = 0; replica < kReplicas; ++replica)
      for (const std::size_t count : kCounts) inputs.push_back(counted(replica, count));
    const int copies = buffers == ResultBuffers::kShared ? 1 : kReplicas;
    for (int copy = 0; copy < copies; ++copy)
      for (const std::size_t count : kCounts) memory_.emplace_back(count, -1.0F);
    for (std::vector<float>& numbers : memory_)
      outputs.push_back(
          TensorView::over(std::span(numbers), {static_cast<std::int64_t>(numbers.size())}));
  }

  void run() { plan_.run(inputs, outputs); }
  Plan& plan() { return plan_; }

  void expect_right() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      EXPECT_EQ(memory_[i], counted_sum(kReplicas, kCounts[i % std::size(kCounts)])) << i;
  }

  std::vector<Tensor> inputs;
  std::vector<TensorView> outputs;

 private:
  static std::vector<TensorInfo> infos() {
    std::vector<TensorInfo> tensors;
    for (const std::size_t count : kCounts)
      tensors.push_back({"t" + std::to_string(tensors.size()), DType::kFloat32,
                         Shape{static_cast<std::int64_t>(count)}});
    return tensors;
  }

  Plan plan_;
  std::vector<std::vector<float>> memory_;
};

TEST(Plan, IsRightForEveryPacking) {
  for (const ResultBuffers buffers : {ResultBuffers::kShared, ResultBuffers::kSeparate})
    for (const Packing& packing :
         {Packing{}, Packing{.num_packs = 1}, Packing{.num_packs = 7},
          Packing{.agg_small_grads_max_bytes = 20'000}, Packing{.bytes_per_pack = 30'000}}) {
      PlannedLists lists(packing, buffers);
      lists.run();
      lists.expect_right();
    }
}

TEST(Plan, AllocatesNothingWhenItRuns) {
  PlannedLists lists({.num_packs = 3}, ResultBuffers::kSeparate);
  lists.run();
  const std::uint64_t before = allocation_count();
  const std::uint64_t buffers_before = Context::process().memory().allocation_count;
  for (int i = 0; i < 10; ++i) lists.run();
  EXPECT_EQ(allocation_count(), before);
  EXPECT_EQ(Context::process().memory().allocation_count, buffers_before);
  lists.expect_right();
}

TEST(Plan, RefusesOtherTensorsThanWerePlanned) {
  PlannedLists lists({}, ResultBuffers::kShared);
  lists.inputs[5] = counted(0, 1);
  expect_error(ErrorKind::kShapeMismatch, "replica 1 gives t1 in shape [1], but [0] was planned",
               [&] { lists.run(); });
  lists.inputs[5] = Tensor::of<int>(std::initializer_list<int>{}, {0});
  expect_error(ErrorKind::kDtypeMismatch, "replica 1 gives t1 as int32, but float32 was planned",
               [&] { lists.run(); });
  lists.inputs.pop_back();
  expect_error(ErrorKind::kBadOption, "15 inputs were given for 4 replicas of 4 tensors",
               [&] { lists.run(); });
}

TEST(Plan, RefusesOtherOutputsThanItsResults) {
  PlannedLists lists({}, ResultBuffers::kShared);
  const TensorView good = lists.outputs[0];
  lists.outputs[0].bytes = good.bytes.first(8);
  expect_error(ErrorKind::kShapeMismatch, "the output for t0 has 8 bytes, but the result has 12",
               [&] { lists.run(); });
  lists.outputs[0] = good;
  lists.outputs[0].dtype = DType::kInt32;
  expect_error(ErrorKind::kDtypeMismatch, "the output for t0 is int32, but the result is float32",
               [&] { lists.run(); });
  lists.outputs.pop_back();
  expect_error(ErrorKind::kBadOption, "3 outputs were given for 4 tensors of one buffer each",
               [&] { lists.run(); });
}

}  // namespace
}  // namespace fanin
