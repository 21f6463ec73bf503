#include "fanin/collective_all_reduce.h"

#include <gmock/gmock.h>

#include <array>
#include <utility>

#include "distribute/across_workers.h"
#include "distribute/test_groups.h"
#include "fanin/error.h"
#include "fanin/multi_worker_all_reduce.h"

namespace fanin {
namespace {

using test::error_of;
using test::expect;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Device> devices_of(int count) {
  std::vector<Device> devices(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) devices[static_cast<std::size_t>(i)].index = i;
  return devices;
}

template <Element T>
PerReplica filled(const std::vector<Device>& devices, std::size_t count, T first) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < devices.size(); ++i)
    tensors.push_back(test::filled(count, static_cast<T>(first + static_cast<T>(i))));
  return {devices, tensors};
}

template <Element T>
T first_of(const Result& result, const Device& device) {
  return std::get<Tensor>(value_on(result, device)).to_vector<T>().front();
}

/// Two workers with three replicas each: 1, 2, 3 and 11, 12, 13.
void check_replicas(Group& group) {
  const std::vector<Device> devices = devices_of(3);
  const CollectiveAllReduce ops(group, devices, {.bytes_per_pack = 100}, 6);
  const int first = group.rank() == 0 ? 1 : 11;
  const auto check = [&]<Element T, Element R>(T, R, ReduceOp op, double wanted) {
    const PerReplica value = filled(devices, 17, static_cast<T>(first));
    const Result result = ops.reduce(op, value, value);
    for (const Device& device : devices)
      expect(static_cast<double>(first_of<R>(result, device)) == wanted,
             fmt::format("{} of {}", name(op), name(dtype_of<T>)));
  };
  check(0.0F, 0.0F, ReduceOp::kSum, 42);
  check(0.0F, 0.0F, ReduceOp::kMean, 7);
  check(0.0, 0.0, ReduceOp::kMax, 13);
  check(std::int32_t{}, std::int32_t{}, ReduceOp::kMin, 1);
  check(std::int32_t{}, double{}, ReduceOp::kMean, 7);
  check(std::int64_t{}, double{}, ReduceOp::kMean, 7);
  check(std::uint64_t{}, std::uint64_t{}, ReduceOp::kSum, 42);
}

TEST(CollectiveAllReduce, AddsReplicasOfAllWorkers) {
  EXPECT_THAT(test::in_processes(2, check_replicas), Each(IsEmpty()));
}

TEST(CollectiveAllReduce, TravelsInPacksOfItsOrOfTheCallsSize) {
  EXPECT_THAT(
      test::in_processes(3,
                         [](Group& group) {
                           const std::vector<Device> devices = devices_of(1);
                           const CollectiveAllReduce ops(
                               group, devices,
                               {.bytes_per_pack = 64, .implementation = Implementation::kRing});
                           std::vector<ReducePair> pairs;
                           for (const std::size_t count : {1, 30, 0, 5, 1000})
                             pairs.push_back({filled(devices, count, 2.0F), devices.front()});
                           for (const std::int64_t bytes : {0, 1, 8000}) {
                             const auto results =
                                 ops.batch_reduce(ReduceOp::kSum, pairs, {.bytes_per_pack = bytes});
                             for (const std::size_t i : {0, 1, 3, 4})
                               expect(first_of<float>(results[i], devices.front()) == 6.0F,
                                      fmt::format("value {}", i));
                           }
                         }),
      Each(IsEmpty()));
}

TEST(CollectiveAllReduce, ChoosesPacksWhereNobodySaysTheirSize) {
  std::vector<Group> groups = in_process(2, test::Seconds(20));
  test::on_all_ranks(groups, [](Group& group) {
    const std::vector<Device> devices = devices_of(1);
    const CollectiveAllReduce ops(group, devices);
    EXPECT_THAT(ops.plan(ReduceOp::kSum, devices, {{"a", DType::kFloat32, Shape{10}}}).notes,
                testing::Contains(HasSubstr("bytes_per_pack is 0: a reduction chooses it")));
    std::vector<ReducePair> pairs;
    for (const std::size_t count : {1, 30'000, 0, 5, 1000})
      pairs.push_back({filled(devices, count, 2.0F), devices.front()});
    for (int round = 0; round < 2; ++round) {
      const auto results = ops.batch_reduce(ReduceOp::kSum, pairs);
      for (const std::size_t i : {0U, 1U, 3U, 4U})
        EXPECT_EQ(first_of<float>(results[i], devices.front()), 4.0F);
    }
    // A failure, after which all measure again.
    if (group.rank() == 0) {
      EXPECT_THAT(error_of([&] { group.barrier({.timeout = test::Seconds(0.05)}); }),
                  HasSubstr("rank 1"));
    }
    while (group.epoch() == 0) std::this_thread::yield();
    EXPECT_EQ(first_of<float>(ops.reduce(ReduceOp::kSum, pairs[0].value, devices.front()),
                              devices.front()),
              4.0F);
  });
}

TEST(CollectiveAllReduce, WhoIsLateBetweenTwoPacksDoesNotMeetTheNextCall) {
  std::vector<Group> groups = in_process(2, test::Seconds(0.3));
  test::on_all_ranks(groups, [](Group& group) {
    const PerReplica first = filled(devices_of(1), 100, 1.0F);
    const PerReplica second = filled(devices_of(1), 100, 10.0F);
    bool is_late = group.rank() == 1;
    for (int tries = 0; tries < 20; ++tries) {
      int packs = 0;
      const std::uint64_t epoch = group.epoch();
      const auto how = [&](std::size_t) {
        if (++packs == 2 && std::exchange(is_late, false))
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
        return AllReduceOptions{.algorithm = "direct", .epoch = epoch};
      };
      try {
        const std::vector<Tensor> sums = reduce_across(
            group, ReduceOp::kSum, std::array{&first, &second}, {.bytes_per_pack = 1}, how);
        EXPECT_EQ(sums[0].to_vector<float>().front(), 2);
        EXPECT_EQ(sums[1].to_vector<float>().front(), 20);
        EXPECT_GT(tries, 0);
        return;
      } catch (const DeadlineExceeded&) {  // of the one who waits, and told to the other
      }
    }
    ADD_FAILURE() << "rank " << group.rank() << " never came through";
  });
}

PerReplica slices_of(const Device& device, float value) {
  return PerReplica(std::vector<Value>{
      IndexedSlices{.values = Tensor::of<float>({value}, Shape{1, 1}).on(device),
                    .indices = Tensor::of<std::int64_t>({0}, Shape{1}).on(device),
                    .dense_shape = std::nullopt}});
}

/// One of its workers is late once, before the second value of a call.
template <typename Ops>
class Late : public Ops {
 public:
  template <typename... Args>
  explicit Late(bool is_late, Args&&... args)
      : Ops(std::forward<Args>(args)...), is_late_(is_late) {}

 protected:
  Value reduce_sparse(ReduceOp op, const PerReplica& value,
                      const CommunicationOptions& options) const override {
    if (++values_ == 2 && is_late_) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return Ops::reduce_sparse(op, value, options);
  }

 private:
  bool is_late_;
  mutable int values_ = 0;
};

/// Reduces two values again and again until it is done. Nobody takes one for the other.
void expect_values_apart(const CrossDeviceOps& ops, const Device& device) {
  const std::vector<ReducePair> pairs = {{slices_of(device, 1), device},
                                         {slices_of(device, 10), device}};
  for (int tries = 0; tries < 20; ++tries) try {
      const std::vector<Result> results = ops.batch_reduce(ReduceOp::kSum, pairs);
      const auto values_of = [&](std::size_t i) {
        return std::get<IndexedSlices>(value_on(results[i], device)).values.to_vector<float>();
      };
      EXPECT_THAT(values_of(0), testing::ElementsAre(1, 1));
      EXPECT_THAT(values_of(1), testing::ElementsAre(10, 10));
      return;
    } catch (const DeadlineExceeded&) {  // of the one who waits, and told to the other
    }
  ADD_FAILURE() << "never came through";
}

TEST(CollectiveAllReduce, WhoIsLateBetweenTwoValuesDoesNotMeetTheNextCall) {
  std::vector<Group> groups = in_process(2, test::Seconds(0.3));
  test::on_all_ranks(groups, [](Group& group) {
    const std::vector<Device> devices = devices_of(1);
    expect_values_apart(Late<CollectiveAllReduce>(group.rank() == 1, group, devices), devices[0]);
  });
}

TEST(MultiWorkerAllReduceInGroups, WhoIsLateBetweenTwoValuesDoesNotMeetTheNextCall) {
  std::vector<Group> groups = in_process(2, test::Seconds(0.3));
  test::on_all_ranks(groups, [](Group& group) {
    const std::vector<std::string> workers = {"/job:worker/task:0", "/job:worker/task:1"};
    Device device = parse_device(workers[static_cast<std::size_t>(group.rank())]);
    device.type = "CPU";
    device.index = 0;
    expect_values_apart(Late<MultiWorkerAllReduce>(group.rank() == 1, group, workers, 0), device);
  });
}

TEST(CollectiveAllReduce, ErrorsNamePackAndRank) {
  std::vector<Group> groups = in_process(2, test::Seconds(20));
  const std::vector<Device> devices = devices_of(1);
  const CollectiveAllReduce ops(groups[0], devices, {.bytes_per_pack = 4, .timeout_seconds = 0.1});
  const PerReplica value = filled(devices, 10, 1.0F);
  EXPECT_THAT(error_of([&] {
                ops.batch_reduce(ReduceOp::kSum, {{{value, value}, {value, value}}});
              }),
              AllOf(HasSubstr("for rank 1"), HasSubstr("(operation 1, pack 1 of 2)")));
}

TEST(CollectiveAllReduce, SparseValuesEndByTheDeadlineOfTheCall) {
  std::vector<Group> groups = in_process(2, test::Seconds(60));
  const std::vector<Device> devices = devices_of(1);
  const CollectiveAllReduce ops(groups[0], devices);
  const PerReplica value = slices_of(devices[0], 1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of([&] { ops.reduce(ReduceOp::kSum, value, value, {.timeout_seconds = 0.1}); }),
              HasSubstr("for rank 1, until the deadline"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, test::Seconds(30));
}

TEST(CollectiveAllReduce, FollowsTheHostsWhereThereAreSeveral) {
  std::vector<Group> groups;
  for (auto& transport : test::make_message_transports({0, 0, 1, 1}, 32 << 10))
    groups.emplace_back(std::move(transport), test::Seconds(30));
  test::on_all_ranks(groups, [](Group& group) {
    const std::vector<Device> devices = devices_of(1);
    const CollectiveAllReduce ops(group, devices);
    const ReductionPlan plan =
        ops.plan(ReduceOp::kSum, devices, {{"a", DType::kFloat32, Shape{10}}});
    EXPECT_EQ(plan.request.between_processes, "auto");
    EXPECT_THAT(plan.notes,
                testing::Contains(HasSubstr("4 workers on 2 hosts: the steps of the algorithm")));
    const CommunicationOptions ring{.implementation = Implementation::kRing};
    for (const CommunicationOptions& options : {CommunicationOptions(), ring})
      for (const std::size_t count : {1U, 5'000U, 100'000U}) {
        const PerReplica value = filled(devices, count, 2.0F);
        EXPECT_EQ(first_of<float>(ops.reduce(ReduceOp::kSum, value, value, options), devices[0]),
                  8.0F);
      }
  });
}

TEST(CollectiveAllReduce, ChecksWhatItIsMadeOf) {
  std::vector<Group> groups = in_process(1, test::Seconds(1));
  EXPECT_THAT(error_of([&] { CollectiveAllReduce(groups[0], {}); }),
              HasSubstr("a worker needs at least one device"));
  EXPECT_THAT(error_of([&] { CollectiveAllReduce(groups[0], devices_of(2), {}, 3); }),
              HasSubstr("group_size is 3, but 1 workers with 2 devices each have 2 replicas"));
  const CollectiveAllReduce ops(groups[0], devices_of(2));
  const PerReplica one = filled(devices_of(1), 4, 1.0F);
  EXPECT_THAT(error_of([&] { ops.reduce(ReduceOp::kSum, one, one); }),
              HasSubstr("a value has 1 components"));
}

TEST(CollectiveAllReduce, PlansSayHowDataTravels) {
  const auto notes_of = [](int ranks) {
    std::vector<Group> groups = in_process(ranks, test::Seconds(1));
    const CollectiveAllReduce ops(groups[0], devices_of(1));
    return ops.plan(ReduceOp::kSum, devices_of(1), {{"a", DType::kFloat32, Shape{10}}}).notes;
  };
  EXPECT_THAT(notes_of(2),
              testing::Contains(AllOf(
                  HasSubstr("written by all ranks from 2.05 kB up"),
                  HasSubstr("in the first message up to 40 B, in one hop up to 262 kB, by"))));
  EXPECT_THAT(notes_of(4), testing::Contains(HasSubstr(
                               "in one hop up to 2.05 kB (65.5 kB where ranks share cores), by")));
}

TEST(CollectiveAllReduce, WhatOneWorkerRefusesIsToldToTheOthers) {
  std::vector<Group> groups = in_process(3, test::Seconds(20));
  test::on_all_ranks(groups, [](Group& group) {
    const std::vector<Device> devices = devices_of(2);
    const CollectiveAllReduce ops(group, devices);
    const PerReplica good = filled(devices, 4, 1.0F);
    const PerReplica bad = filled(devices_of(1), 4, 1.0F);
    for (int round = 0; round < 3; ++round) {
      const std::string error = error_of(
          [&] { ops.reduce(ReduceOp::kSum, group.rank() == 1 ? bad : good, devices.front()); });
      EXPECT_THAT(error, HasSubstr("a value has 1 components"));
      if (group.rank() != 1) {
        EXPECT_THAT(error, HasSubstr("the arguments of rank 1 were refused"));
      }
      const Result result = ops.reduce(ReduceOp::kSum, good, devices.front());
      EXPECT_EQ(first_of<float>(result, devices.front()), 9.0F);
    }
    EXPECT_EQ(group.epoch(), 0U) << "nobody failed";
  });
}

TEST(CollectiveAllReduce, SparseValuesOfWorkersMustFitTogether) {
  std::vector<Group> groups = in_process(2, test::Seconds(20));
  test::on_all_ranks(groups, [](Group& group) {
    const std::vector<Device> devices = devices_of(1);
    const CollectiveAllReduce ops(group, devices);
    const IndexedSlices slices{.values = test::filled(2, 1.0F).reshaped({1, 2}),
                               .indices = Tensor::of<std::int32_t>({0}, {1}),
                               .dense_shape = Shape{group.rank() == 0 ? 4 : 5, 2}};
    const PerReplica value(std::vector<Value>{slices});
    EXPECT_THAT(error_of([&] { ops.reduce(ReduceOp::kSum, value, devices.front()); }),
                HasSubstr("rank 0 has dense_shape [4,2], that of rank 1 has [5,2]"));
  });
}

}  // namespace
}  // namespace fanin
