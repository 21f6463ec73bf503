#include "distribute/arguments.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/expect_error.h"

namespace fanin {
namespace {

using Operation = Request::Operation;
using List = std::vector<std::int64_t>;
using testing::HasSubstr;

/// Numbers of one row after the other, and what each rank of three gives and gets of them.
class ArgumentsTest : public testing::Test {
 protected:
  Tensor input(std::int64_t rows, std::size_t first = 0) {
    return Tensor::view(std::span<const float>(numbers_).subspan(2 * first, count(rows)),
                        {rows, 2});
  }
  TensorView out(std::int64_t rows, std::size_t first = 100) {
    return TensorView::over(std::span(numbers_).subspan(2 * first, count(rows)), {rows, 2});
  }

  static void refuse(const Arguments& arguments, ErrorKind kind, const std::string& sentence,
                     int rank = 0) {
    expect_error(kind, HasSubstr(sentence), [&] { to_request(arguments, rank, 3); });
  }

  std::vector<float> numbers_ = std::vector<float>(400);

 private:
  static std::size_t count(std::int64_t rows) { return static_cast<std::size_t>(2 * rows); }
};

TEST_F(ArgumentsTest, BecomeWhatAllRanksAskForAlike) {
  const auto ask = [&](int rank, const Arguments& arguments) {
    return to_request(arguments, rank, 3);
  };
  const Request equal = ask(0, {Operation::kReduceScatter, input(6), out(2)});
  EXPECT_EQ(equal.extents, Extents(2));
  EXPECT_EQ(equal.items.front().shape, Shape{2});
  EXPECT_EQ(equal, ask(2, {Operation::kReduceScatter, input(6)}));
  EXPECT_EQ(equal,
            ask(1, {Operation::kReduceScatter, input(6), out(2), {}, {.extents = {2, 2, 2}}}));

  const AllReduceOptions some{.extents = {1, 0, 3}};
  const Request root = ask(2, {Operation::kScatter, input(4), out(3), 2, some});
  EXPECT_EQ(root.extents, Extents(List{1, 0, 3}));
  EXPECT_EQ(root, ask(1, {Operation::kScatter, {}, out(0), 2, some}));
  EXPECT_EQ(ask(0, {Operation::kGather, input(1), {}, 2, some}).extents, root.extents);
}

TEST_F(ArgumentsTest, TellWhatOnlyOneRankKnows) {
  const auto told = [](const Arguments& arguments) { return told_extents(arguments); };
  EXPECT_EQ(told({Operation::kAllGather, input(5)}), List{5});
  EXPECT_EQ(told({Operation::kGather, input(0), {}, 1}), List{0});
  const Arguments sent{Operation::kAllToAll, input(6), {}, {}, {}, {1, 2, 3}};
  EXPECT_EQ(told(sent), (List{1, 2, 3}));
  EXPECT_FALSE(to_request(sent, 0, 3).extents.are_known());
  EXPECT_EQ(told({Operation::kAllGather, input(5), out(15)}), List{});
  EXPECT_EQ(told({Operation::kAllGather, input(5), {}, {}, {.extents = {5, 5, 5}}}), List{});
  EXPECT_EQ(told({Operation::kAllToAll, input(6)}), List{});
}

TEST_F(ArgumentsTest, SayWhatARankGets) {
  Request request = to_request({Operation::kAllToAll, input(6), {}, {}, {}, {1, 2, 3}}, 0, 3);
  set_extents(request, Extents(List{1, 2, 3, 0, 0, 5, 4, 4, 4}), 3);
  EXPECT_EQ(result_shape(request, 0, 3), (Shape{5, 2}));
  EXPECT_EQ(result_shape(request, 2, 3), (Shape{12, 2}));
  EXPECT_TRUE(wants_result(request, 1, 3));
  EXPECT_FALSE(wants_result({.operation = Operation::kGather, .root = 1}, 0, 3));
}

TEST_F(ArgumentsTest, AreRefusedIfExtentsAreWrong) {
  const auto with = [](List extents) { return AllReduceOptions{.extents = std::move(extents)}; };
  refuse({Operation::kReduceScatter, input(6), out(2), {}, with({2, 4})}, ErrorKind::kShapeMismatch,
         "reduce_scatter was given 2 extents in a group of 3; give one for each rank");
  refuse({Operation::kReduceScatter, input(6), out(2), {}, with({2, 5, -1})},
         ErrorKind::kShapeMismatch,
         "extents [2,5,-1] of reduce_scatter have a negative number; each is 0 or more");
  refuse({Operation::kReduceScatter, input(6), out(2), {}, with({2, 2, 3})},
         ErrorKind::kShapeMismatch,
         "the input of reduce_scatter has shape [6,2], but with extents [2,2,3] rank 0 has 7 rows "
         "to give; they must be equal");
  refuse({Operation::kAllGather, input(6), out(12), {}, with({5, 5, 2})}, ErrorKind::kShapeMismatch,
         "with extents [5,5,2] rank 1 has 5 rows to give", 1);
  refuse({Operation::kReduceScatter, input(7), out(2)}, ErrorKind::kShapeMismatch,
         "the input of reduce_scatter has shape [7,2], whose 7 rows cannot be dealt evenly to 3 "
         "ranks; give a multiple of 3, or extents");
  refuse({Operation::kScatter, input(8), out(2), 0}, ErrorKind::kShapeMismatch, "8 rows cannot");
  refuse({Operation::kAllToAll, input(5), out(5)}, ErrorKind::kShapeMismatch, "5 rows cannot");
  refuse({Operation::kAllToAll, input(6), {}, {}, {}, {1, 2, 4}}, ErrorKind::kShapeMismatch,
         "the input of all_to_all has shape [6,2], but its extents [1,2,4] add up to 7");
  refuse({Operation::kAllToAll, input(6), out(6), {}, with({2, 2, 2})}, ErrorKind::kBadOption,
         "all_to_all takes no extents among its options");
  refuse({Operation::kReduce, input(6), out(6), 0, with({2, 2, 2})}, ErrorKind::kBadOption,
         "reduce has no parts for which extents could be given");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  refuse({Operation::kScatter, {}, out(0), 1, with({0, most, 1})}, ErrorKind::kShapeMismatch,
         "more rows together than 63 bits count");
  refuse({Operation::kScatter, {}, out(0), 1, with({0, most / 2, 1})}, ErrorKind::kShapeMismatch,
         "more elements than memory can address");
}

TEST_F(ArgumentsTest, AreRefusedIfTensorsDoNotFit) {
  refuse({Operation::kReduceScatter, input(6), out(3)}, ErrorKind::kShapeMismatch,
         "the output of reduce_scatter has shape [3,2], but its result has [2,2]");
  refuse({Operation::kAllGather, input(2), out(2)}, ErrorKind::kShapeMismatch,
         "the output of all_gather has shape [2,2], but its result has [6,2]");
  refuse({Operation::kScatter, input(6), out(3), 0}, ErrorKind::kShapeMismatch,
         "the output of scatter has shape [3,2], but its result has [2,2]");
  TensorView wrong = out(2);
  wrong.dtype = DType::kInt32;
  refuse({Operation::kReduceScatter, input(6), wrong}, ErrorKind::kDtypeMismatch,
         "the output of reduce_scatter is int32, but its result is float32");
  TensorView narrow = out(2);
  narrow.bytes = narrow.bytes.first(12);
  refuse({Operation::kBroadcast, {}, narrow, 1}, ErrorKind::kShapeMismatch,
         "the output of broadcast of shape [2,2] has 12 bytes instead of 16");
  refuse({Operation::kReduceScatter, Tensor::of<float>({1}, {}), out(2)}, ErrorKind::kShapeMismatch,
         "a scalar has no axis along which parts could lie");
  // What a rank does not get is not looked at.
  EXPECT_NO_THROW(to_request({Operation::kGather, input(2), wrong, 1}, 0, 3));
  EXPECT_NO_THROW(to_request({Operation::kReduce, input(2), TensorView{}, 1}, 0, 3));
}

TEST_F(ArgumentsTest, AreRefusedIfOptionsAreWrong) {
  refuse({Operation::kGather, input(2), {}, 3}, ErrorKind::kBadOption,
         "rank 3 does not exist in a group of 3; ranks count from 0");
  refuse({Operation::kScatter, input(6), out(2), -1}, ErrorKind::kBadOption, "rank -1");
  refuse({Operation::kAllToAll, input(6), out(6), {}, {.algorithm = "gossip"}}, ErrorKind::kBadSpec,
         "there is no algorithm \"gossip\"");
  refuse({Operation::kReduceScatter, input(6), out(2), {}, {.accumulation = Accumulation::kExact}},
         ErrorKind::kBadOption, "accumulation exact is not for reduce_scatter");
  refuse({Operation::kAllGather, input(2), {}, {}, {.timeout = std::chrono::seconds(0)}},
         ErrorKind::kBadOption, "a timeout must be above 0 s");
}

TEST_F(ArgumentsTest, MayShareMemoryWhereARankGivesToItself) {
  const auto is_fine = [&](const Arguments& arguments, int rank) {
    EXPECT_NO_THROW(to_request(arguments, rank, 3)) << name(arguments.operation) << rank;
  };
  const AllReduceOptions some{.extents = {1, 2, 3}};
  for (const int rank : {0, 1, 2}) {
    const auto at = static_cast<std::size_t>(rank);
    is_fine({Operation::kReduceScatter, input(6), out(2, 2 * at)}, rank);
    is_fine({Operation::kAllGather, input(2, 2 * at), out(6, 0)}, rank);
    is_fine({Operation::kGather, input(2, 2 * at), out(6, 0), rank}, rank);
    is_fine({Operation::kScatter, input(6), out(2, 2 * at), rank}, rank);
    is_fine({Operation::kReduce, input(6), out(6, 0), rank}, rank);
  }
  is_fine({Operation::kReduceScatter, input(6), out(3, 3), {}, some}, 2);
  is_fine({Operation::kAllToAll, input(6), out(6, 6)}, 0);  // side by side

  refuse({Operation::kReduceScatter, input(6), out(2, 0)}, ErrorKind::kBadOption,
         "the output of reduce_scatter overlaps its input; use other memory, or this rank's own "
         "part for both",
         1);
  refuse({Operation::kReduceScatter, input(6), out(3, 2), {}, some}, ErrorKind::kBadOption,
         "overlaps", 2);
  refuse({Operation::kAllGather, input(2, 0), out(6, 0)}, ErrorKind::kBadOption, "overlaps", 1);
  refuse({Operation::kAllToAll, input(6), out(6, 0)}, ErrorKind::kBadOption,
         "the output of all_to_all overlaps its input; use other memory");
  refuse({Operation::kReduce, input(6), out(6, 1), 0}, ErrorKind::kBadOption,
         "the output of reduce overlaps its input; use other memory, or the same for both");

  // Not if an element's result is longer than itself.
  std::vector<std::int32_t> row(12);
  const Tensor whole = Tensor::view(std::span<const std::int32_t>(row).first(6), {6});
  const TensorView mean{std::as_writable_bytes(std::span(row)).first(16), DType::kFloat64, {2}};
  refuse({Operation::kReduceScatter, whole, mean, {}, {.op = ReduceOp::kMean}},
         ErrorKind::kBadOption, "overlaps");
}

}  // namespace
}  // namespace fanin
