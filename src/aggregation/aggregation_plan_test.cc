#include "fanin/aggregation_plan.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/expect_error.h"

namespace fanin {
namespace {

using Method = AggregationMethod;
using testing::HasSubstr;

AggregationRequest arriving(std::size_t term_count, Method method = Method::kAuto) {
  return {.term_count = term_count, .element_count = 1000, .method = method, .terms_arrive = true};
}

TEST(AggregationPlan, AutoTakesTheFirstMethodThatFitsTheBudget) {
  const auto method = [](std::size_t budget) {
    return plan_aggregation(arriving(16), {.memory_budget_bytes = budget}).method;
  };
  EXPECT_EQ(method(17 * 4000), Method::kAddN);
  EXPECT_EQ(method(17 * 4000 - 1), Method::kExperimentalTree);
  EXPECT_EQ(method(6 * 4000), Method::kExperimentalTree);
  EXPECT_EQ(method(6 * 4000 - 1), Method::kExperimentalAccumulateN);
  EXPECT_EQ(method(0), Method::kExperimentalAccumulateN);
  EXPECT_EQ(plan_aggregation(arriving(16)).method, Method::kAddN);
}

TEST(AggregationPlan, AutoSaysWhy) {
  const auto reason = [](std::size_t budget) {
    return plan_aggregation(arriving(16), {.memory_budget_bytes = budget}).reason;
  };
  EXPECT_THAT(reason(100'000), HasSubstr("68000 bytes in hand fit into the budget of 100000"));
  EXPECT_THAT(reason(30'000), HasSubstr("24000 bytes in hand fit into the budget of 30000, and all "
                                        "terms do not"));
  EXPECT_THAT(reason(10'000), HasSubstr("a tree's partial sums do not"));
  EXPECT_THAT(reason(10), HasSubstr("8000 bytes in hand exceed the budget of 10"));
  EXPECT_THAT(plan_aggregation({.term_count = 3}).reason, HasSubstr("all terms are there"));
}

TEST(AggregationPlan, AutoHoldsAllTermsForAnExactSum) {
  const auto plan = plan_aggregation(
      arriving(16), {.accumulation = Accumulation::kExact, .memory_budget_bytes = 0});
  EXPECT_EQ(plan.method, Method::kAddN);
  EXPECT_EQ(plan.reason, "an exact sum needs all terms");
}

TEST(AggregationPlan, CountsWhatEachMethodHoldsAndMoves) {
  const auto plan = plan_aggregation(arriving(8, Method::kExperimentalTree));
  ASSERT_EQ(plan.costs.size(), 3U);
  EXPECT_EQ(plan.costs[0].held_bytes, 9 * 4000U);
  EXPECT_EQ(plan.costs[0].moved_bytes, 9 * 4000U);
  EXPECT_EQ(plan.costs[1].held_bytes, 5 * 4000U);
  EXPECT_EQ(plan.costs[1].moved_bytes, 17 * 4000U);
  EXPECT_EQ(plan.costs[2].held_bytes, 2 * 4000U);
  EXPECT_EQ(plan.costs[2].moved_bytes, 23 * 4000U);
}

TEST(AggregationPlan, SaysWhereSparseTermsGo) {
  auto request = arriving(4, Method::kExperimentalAccumulateN);
  EXPECT_EQ(plan_aggregation(request).note, "");
  request.is_sparse = true;
  EXPECT_EQ(plan_aggregation(request).note,
            "sparse terms, which it cannot take, go to EXPERIMENTAL_TREE");
}

TEST(AggregationPlan, IsTextAndJson) {
  auto request = arriving(8, Method::kExperimentalAccumulateN);
  request.is_sparse = true;
  const auto plan = plan_aggregation(request);
  EXPECT_THAT(to_string(plan),
              HasSubstr("8 terms of 1000 float32 elements by EXPERIMENTAL_ACCUMULATE_N: asked for\n"
                        "sparse terms, which it cannot take, go to EXPERIMENTAL_TREE\nkernel: "));
  EXPECT_THAT(to_string(plan), HasSubstr("*EXPERIMENTAL_ACCUMULATE_N           8000"));
  const auto json = nlohmann::json::parse(to_json(plan));
  EXPECT_EQ(json["method"], "EXPERIMENTAL_ACCUMULATE_N");
  EXPECT_EQ(json["costs"].size(), 3U);
  EXPECT_THAT(plan.kernel, HasSubstr("partial sums in float32"));
}

TEST(AggregationPlan, RefusesWhatIsNoMethod) {
  expect_error(ErrorKind::kBadMethod, HasSubstr("7 is not an aggregation method"),
               [] { plan_aggregation({.method = static_cast<Method>(7)}); });
}

}  // namespace
}  // namespace fanin
