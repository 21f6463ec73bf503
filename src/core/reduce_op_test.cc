#include "fanin/reduce_op.h"

#include <gtest/gtest.h>

#include "core/expect_error.h"

namespace fanin {
namespace {

TEST(ReduceOp, IsReadInAnyCase) {
  for (int number = 0; number < 5; ++number) {
    const auto op = static_cast<ReduceOp>(number);
    EXPECT_EQ(parse_reduce_op(name(op)), op);
    EXPECT_NO_THROW(check(op));
  }
  EXPECT_EQ(parse_reduce_op("mean"), ReduceOp::kMean);
  EXPECT_EQ(parse_reduce_op("Prod"), ReduceOp::kProd);
}

TEST(ReduceOp, RefusesOthersAndListsTheNames) {
  expect_error(ErrorKind::kBadReduceOp,
               "\"average\" is not a reduce op; use SUM, MEAN, MIN, MAX or PROD",
               [] { parse_reduce_op("average"); });
  for (const char* text : {"", "SUM ", "0", "S", "SUMS"})
    EXPECT_THROW(parse_reduce_op(text), InvalidArgument) << text;
  const char* message = "7 is not a reduce op; use SUM, MEAN, MIN, MAX or PROD";
  expect_error(ErrorKind::kBadReduceOp, message, [] { check(ReduceOp{7}); });
  expect_error(ErrorKind::kBadReduceOp, message, [] { name(ReduceOp{7}); });
}

TEST(Accumulation, HasThreeNames) {
  EXPECT_EQ(parse_accumulation("wide"), Accumulation::kWide);
  EXPECT_EQ(parse_accumulation("native"), Accumulation::kNative);
  EXPECT_EQ(parse_accumulation("exact"), Accumulation::kExact);
  EXPECT_EQ(name(Accumulation::kNative), "native");
  EXPECT_EQ(name(Accumulation::kExact), "exact");
  expect_error(ErrorKind::kBadOption,
               "accumulation \"Wide\" is not known; use wide (float16 and bfloat16 are summed in "
               "float32 and rounded once), native (rounded at each step) or exact (the exact sum, "
               "rounded once)",
               [] { parse_accumulation("Wide"); });
  const char* message = "accumulation 9 is not known; use wide (0), native (1) or exact (2)";
  expect_error(ErrorKind::kBadOption, message, [] { check(Accumulation{9}); });
  expect_error(ErrorKind::kBadOption, message, [] { name(Accumulation{9}); });
}

}  // namespace
}  // namespace fanin
