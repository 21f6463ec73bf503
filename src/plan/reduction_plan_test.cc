#include "fanin/reduction_plan.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/expect_error.h"

namespace fanin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ReductionRequest three_tensors(const AllReduceSpec& spec) {
  return {.topology = {.worker_count = 2, .devices_per_worker = 2},
          .tensors = {{"small", DType::kFloat32, Shape{1}},
                      {"middle", DType::kFloat32, Shape{100}},
                      {"large", DType::kFloat16, Shape{1000}}},
          .choices = spec.elements()};
}

TEST(ReductionPlan, ChoosesTheAlgorithmBySize) {
  const ReductionPlan plan = plan_reduction(three_tensors("pscpu#2:400:nccl/xring"));
  ASSERT_EQ(plan.packs.size(), 3U);
  EXPECT_EQ(plan.packs[0].algorithm, "shuffle#2");
  EXPECT_EQ(plan.packs[1].algorithm, "shuffle#2");
  EXPECT_EQ(plan.packs[2].algorithm, "direct/ring");
  EXPECT_EQ(plan.packs[1].reason, "at most 400 B");
  EXPECT_EQ(plan.packs[2].reason, "larger than 400 B");
  EXPECT_GT(plan.packs[2].most_sent_bytes, 0U);
  EXPECT_GT(plan.packs[2].round_count, 2);
}

TEST(ReductionPlan, DealsGatherersFromPackToPack) {
  const ReductionPlan cpus = plan_reduction(three_tensors("pscpu#3"));
  EXPECT_THAT(cpus.packs[0].gathered_at,
              ElementsAre("worker 0 CPU", "worker 1 CPU", "worker 0 CPU"));
  EXPECT_THAT(cpus.packs[1].gathered_at,
              ElementsAre("worker 1 CPU", "worker 0 CPU", "worker 1 CPU"));
  const ReductionPlan gpus = plan_reduction(three_tensors("psgpu#2"));
  EXPECT_THAT(gpus.packs[0].gathered_at, ElementsAre("worker 0 device 0", "worker 1 device 0"));
  EXPECT_THAT(gpus.packs[1].gathered_at, ElementsAre("worker 0 device 1", "worker 1 device 1"));
}

TEST(ReductionPlan, WarnsOfWhatCannotBeUsed) {
  const ReductionPlan plan = plan_reduction(three_tensors("pscpu#2:1M:nccl/xring"));
  EXPECT_THAT(plan.warnings,
              ElementsAre("1 of the packs by pscpu have fewer elements than its 2 shards",
                          "nccl/xring takes nothing: no pack is larger than 1.05 MB"));
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("there is no NCCL here")));
}

TEST(ReductionPlan, IsAValue) {
  const ReductionPlan plan = plan_reduction(three_tensors("xring"));
  EXPECT_EQ(plan, plan_reduction(three_tensors("xring")));
  EXPECT_NE(plan, plan_reduction(three_tensors("rechd")));
}

TEST(ReductionPlan, ExplainsItselfToPeopleAndScripts) {
  ReductionRequest request = three_tensors("pscpu:400:xring");
  request.packing.num_packs = 2;
  const ReductionPlan plan = plan_reduction(request);
  EXPECT_THAT(to_text(plan), HasSubstr("SUM of 3 tensors (2.4 kB) among 2 workers with 2 devices"));
  EXPECT_THAT(to_text(plan), HasSubstr("small, middle[0:50]"));
  const auto json = nlohmann::json::parse(to_json(plan));
  EXPECT_EQ(json.at("packs").size(), 4U);
  EXPECT_EQ(json.at("packs")[0].at("pieces")[1].at("count"), 50);
  EXPECT_EQ(json.at("packs")[3].at("algorithm"), "ring");
}

TEST(ReductionPlan, RefusesWhatCannotBe) {
  ReductionRequest request = three_tensors("xring");
  request.choices.clear();
  expect_error(ErrorKind::kBadSpec, "there is no algorithm to choose from; name one",
               [&] { plan_reduction(request); });
  request.choices = {{.algorithm = "telepathy"}};
  EXPECT_THROW(plan_reduction(request), InvalidArgument);
  request = three_tensors("xring");
  request.topology.worker_count = 0;
  EXPECT_THROW(plan_reduction(request), InvalidArgument);
}

}  // namespace
}  // namespace fanin
