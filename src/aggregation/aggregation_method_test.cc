#include "fanin/aggregation_method.h"

#include <gtest/gtest.h>

#include "core/expect_error.h"

namespace fanin {
namespace {

TEST(AggregationMethod, HasTheNumbersOfTensorFlow) {
  EXPECT_EQ(static_cast<int>(AggregationMethod::kDefault), 0);
  EXPECT_EQ(AggregationMethod::kDefault, AggregationMethod::kAddN);
  EXPECT_EQ(static_cast<int>(AggregationMethod::kExperimentalTree), 1);
  EXPECT_EQ(static_cast<int>(AggregationMethod::kExperimentalAccumulateN), 2);
  EXPECT_EQ(static_cast<int>(AggregationMethod::kAuto), 3);
}

TEST(AggregationMethod, ReadsItsNamesInAnyCase) {
  for (int number = 0; number < 4; ++number) {
    const auto method = static_cast<AggregationMethod>(number);
    EXPECT_EQ(parse_aggregation_method(name(method)), method);
  }
  EXPECT_EQ(parse_aggregation_method("default"), AggregationMethod::kAddN);
  EXPECT_EQ(parse_aggregation_method("tree"), AggregationMethod::kExperimentalTree);
  EXPECT_EQ(parse_aggregation_method("Accumulate_N"), AggregationMethod::kExperimentalAccumulateN);
}

TEST(AggregationMethod, RefusesOtherNamesAndNumbers) {
  expect_error(ErrorKind::kBadMethod,
               "\"TREE_OF_LIFE\" is not an aggregation method; use ADD_N or DEFAULT (0), "
               "EXPERIMENTAL_TREE (1), EXPERIMENTAL_ACCUMULATE_N (2) or AUTO (3)",
               [] { parse_aggregation_method("TREE_OF_LIFE"); });
  for (const int number : {-1, 4, 100})
    expect_error(ErrorKind::kBadMethod,
                 std::to_string(number) +
                     " is not an aggregation method; use ADD_N or DEFAULT (0), "
                     "EXPERIMENTAL_TREE (1), EXPERIMENTAL_ACCUMULATE_N (2) or AUTO (3)",
                 [&] { check(static_cast<AggregationMethod>(number)); });
}

}  // namespace
}  // namespace fanin
