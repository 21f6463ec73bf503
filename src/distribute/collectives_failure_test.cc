// What ranks are told when they give different or wrong arguments to collectives, or do not come.

#include <gmock/gmock.h>

#include <limits>
#include <optional>

#include "distribute/test_collectives.h"

namespace fanin {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

/// Every rank gets an error with this sentence, and the group goes on.
template <typename Ask>
void expect_told(const std::string& sentence, Ask&& ask) {
  std::vector<Group> groups = in_process(3, Seconds(60));
  on_all_ranks(groups, [&](Group& group) {
    EXPECT_THAT(error_of([&] { ask(group); }), HasSubstr(sentence)) << "rank " << group.rank();
    EXPECT_EQ(error_of([&] { check_all(group, "direct", uneven(3, 2)); }), "");
  });
}

TEST(CollectivesFailure, TellEveryRankWhatDiffers) {
  const Tensor input = tensor_of(rows_of(0, 0, 6));
  expect_told("rank 0 has given extents [1,2,3], rank 1 has extents [2,1,3]", [&](Group& group) {
    const List extents = group.rank() == 1 ? List{2, 1, 3} : List{1, 2, 3};
    group.reduce_scatter(input, {.extents = extents});
  });
  expect_told("rank 0 has given 2 rows a part, rank 2 has extents [1,2,3]", [&](Group& group) {
    group.reduce_scatter(input, {.extents = group.rank() == 2 ? List{1, 2, 3} : List()});
  });
  expect_told("rank 0 has given no extents, rank 1 has 6 rows a part", [&](Group& group) {
    Numbers out = blank(18);
    if (group.rank() == 1)
      group.all_gather(input, view_of(out));
    else
      group.all_gather(input);
  });
  expect_told("rank 0 has root 0, rank 2 has 1",
              [&](Group& group) { group.gather(input, group.rank() == 2 ? 1 : 0); });
  expect_told("rank 0 has called gather, rank 1 has all_gather", [&](Group& group) {
    if (group.rank() == 1)
      group.all_gather(input);
    else
      group.gather(input, 0);
  });
  expect_told("rank 0 has shape [3], rank 1 has [1,3]", [&](Group& group) {
    group.all_to_all(group.rank() == 1 ? input.reshaped({6, 1, 3}) : input, List{1, 2, 3});
  });
  expect_told("rank 0 has given step 1, rank 2 has step 2",
              [&](Group& group) { group.all_gather(input, {.step = group.rank() == 2 ? 2 : 1}); });
  expect_told("rank 0 has given step 1, rank 2 has no step", [&](Group& group) {
    group.barrier(group.rank() == 2 ? MoveOptions{} : MoveOptions{.step = 1});
  });
  expect_told("rank 0 has algorithm direct, rank 1 has ring", [&](Group& group) {
    Numbers out = blank(2);
    group.broadcast(view_of(out), 0, {.algorithm = group.rank() == 1 ? "ring" : "direct"});
  });
}

TEST(CollectivesFailure, TellTheOthersWhenArgumentsAreRefused) {
  expect_told("7 rows cannot be dealt evenly to 3 ranks", [&](Group& group) {
    group.reduce_scatter(tensor_of(rows_of(0, 0, group.rank() == 1 ? 7 : 6)));
  });
  expect_told("have a negative number", [&](Group& group) {
    group.all_to_all(tensor_of(rows_of(0, 0, 6)),
                     group.rank() == 2 ? List{7, -1, 0} : List{1, 2, 3});
  });
  std::vector<std::optional<Handle>> handles(3);  // they outlive what they throw
  expect_told("rank 3 does not exist in a group of 3", [&](Group& group) {
    Numbers out = blank(2);
    auto& handle = handles[static_cast<std::size_t>(group.rank())];
    handle = group.start_broadcast(view_of(out), 3);
    handle->wait();
  });
  expect_told("a timeout must be above 0 s",
              [&](Group& group) { group.barrier({.timeout = Seconds(-1)}); });
}

TEST(CollectivesFailure, MayNotHaveMoreRowsTogetherThanCanBeCounted) {
  // Rows of no elements need no memory.
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  expect_told("more rows together than 63 bits count", [&](Group& group) {
    group.gather(Tensor::view({}, DType::kFloat32, {most / 2, 0}), 1);
  });
}

TEST(CollectivesFailure, EndAtTheirDeadline) {
  std::vector<Group> groups = in_process(2, Seconds(60));
  const Tensor input = tensor_of(rows_of(0, 0, 4));
  const MoveOptions soon{.timeout = Seconds(0.05)};
  EXPECT_THAT(
      error_of([&] { groups[0].gather(input, 1, soon); }),
      AllOf(HasSubstr("rank 1"), HasSubstr("gather of rows of int32 [3] by direct (operation 1)")));
  EXPECT_THAT(error_of([&] {
                groups[0].reduce_scatter(input, {.algorithm = "ring", .timeout = Seconds(0.05)});
              }),
              HasSubstr("reduce_scatter of rows of int32 [3] by ring"));
  EXPECT_THAT(error_of([&] { groups[0].barrier(soon); }), HasSubstr("barrier"));
  on_all_ranks(groups, [](Group& group) {
    EXPECT_EQ(error_of([&] { check_all(group, "direct", uneven(2, 2)); }), "");
  });
}

}  // namespace
}  // namespace fanin
