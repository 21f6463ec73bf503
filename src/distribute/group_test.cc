#include "fanin/group.h"

#include <gmock/gmock.h>

#include <thread>

#include "core/sanitized.h"
#include "fanin/error.h"
#include "transports/in_process.h"

namespace fanin {
namespace {

using std::chrono::duration;
using testing::HasSubstr;

constexpr std::size_t kWindowBytes = 1 << 20;

std::vector<Group> make_groups(int count, duration<double> timeout = std::chrono::minutes(2)) {
  std::vector<Group> groups;
  for (auto& transport : make_in_process(count, kWindowBytes))
    groups.emplace_back(std::move(transport), timeout);
  return groups;
}

/// Runs `body(group)` on a thread for each rank.
template <typename Body>
void on_all_ranks(std::vector<Group>& groups, Body&& body) {
  std::vector<std::jthread> threads;
  for (Group& group : groups) threads.emplace_back([&body, &group] { body(group); });
}

template <Element T>
Tensor filled(std::size_t count, T value) {
  return Tensor::of(std::span<const T>(std::vector<T>(count, value)),
                    Shape{static_cast<std::int64_t>(count)});
}

TEST(Group, SumsOverOneToThirtyThreeRanks) {
  for (int size = 1; size <= 33; ++size) {
    // Every rank makes a plan for each length: long under sanitizers.
    if (kIsSanitized && size > 5 && size != 8 && size != 17 && size != 33) continue;
    auto groups = make_groups(size);
    on_all_ranks(groups, [&](Group& group) {
      const bool takes_all_lengths = !kIsSanitized || size <= 8;
      for (const std::size_t count : {0, 1, 17, 1017}) {
        if (count < 1000 && !takes_all_lengths) continue;
        const Tensor sum = group.all_reduce(filled(count, 1 << group.rank() % 8));
        int expected = 0;
        for (int rank = 0; rank < size; ++rank) expected += 1 << rank % 8;
        EXPECT_EQ(sum.to_vector<int>(), std::vector<int>(count, expected)) << size << " ranks";
      }
    });
  }
}

TEST(Group, KnowsEveryOpAndItsResultType) {
  auto groups = make_groups(3);
  on_all_ranks(groups, [](Group& group) {
    const Tensor input = filled<std::int8_t>(5, static_cast<std::int8_t>(group.rank() + 2));
    const auto reduce = [&](ReduceOp op) { return group.all_reduce(input, {.op = op}); };
    EXPECT_EQ(reduce(ReduceOp::kSum).to_vector<std::int8_t>()[4], 9);
    EXPECT_EQ(reduce(ReduceOp::kMin).to_vector<std::int8_t>()[4], 2);
    EXPECT_EQ(reduce(ReduceOp::kMax).to_vector<std::int8_t>()[4], 4);
    EXPECT_EQ(reduce(ReduceOp::kProd).to_vector<std::int8_t>()[4], 24);
    EXPECT_EQ(reduce(ReduceOp::kMean).to_vector<float>()[4], 3.0F);
  });
}

TEST(Group, MayWriteOverTheInput) {
  auto groups = make_groups(2);
  on_all_ranks(groups, [](Group& group) {
    std::vector<float> numbers(100'000, static_cast<float>(group.rank() + 1));
    const std::span<float> span(numbers);
    group.all_reduce(Tensor::view(std::span<const float>(span), {100'000}),
                     TensorView::over(span, {100'000}));
    EXPECT_EQ(numbers, std::vector<float>(100'000, 3.0F));
  });
}

TEST(Group, RunsDifferentOperationsOneAfterTheOther) {
  auto groups = make_groups(3);
  on_all_ranks(groups, [](Group& group) {
    for (int step = 0; step < 200; ++step) {
      const auto count = static_cast<std::size_t>(step * 37 % 5000);
      EXPECT_EQ(group.all_reduce(filled<std::int64_t>(count, step), {.step = step})
                    .to_vector<std::int64_t>(),
                std::vector<std::int64_t>(count, 3 * step));
      if (step % 10 == 0) group.barrier();
    }
  });
}

/// Every rank asks for what `ask(group)` asks, and gets the same error.
template <typename Ask>
void expect_mismatch(ErrorKind kind, const std::string& sentence, Ask&& ask) {
  auto groups = make_groups(3);
  on_all_ranks(groups, [&](Group& group) {
    try {
      ask(group);
      ADD_FAILURE() << "rank " << group.rank() << " saw nothing";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_THAT(error.what(), HasSubstr(sentence));
    }
    // The group still works.
    EXPECT_EQ(group.all_reduce(filled(2, 1)).to_vector<int>(), (std::vector<int>{3, 3}));
  });
}

TEST(Group, TellsEveryRankWhenShapesDiffer) {
  expect_mismatch(ErrorKind::kShapeMismatch, "rank 0 has shape [4], rank 2 has [5]",
                  [](Group& group) { group.all_reduce(filled(group.rank() == 2 ? 5 : 4, 1.0F)); });
}

TEST(Group, TellsEveryRankWhenDtypesDiffer) {
  expect_mismatch(ErrorKind::kDtypeMismatch, "rank 0 has dtype int32, rank 1 has float32",
                  [](Group& group) {
                    if (group.rank() == 1)
                      group.all_reduce(filled(4, 1.0F));
                    else
                      group.all_reduce(filled(4, 1));
                  });
}

TEST(Group, TellsEveryRankWhenOpsDiffer) {
  expect_mismatch(ErrorKind::kRankMismatch, "rank 0 has op SUM, rank 1 has MAX", [](Group& group) {
    group.all_reduce(filled(4, 1), {.op = group.rank() == 1 ? ReduceOp::kMax : ReduceOp::kSum});
  });
}

TEST(Group, TellsEveryRankWhenStepsDiffer) {
  expect_mismatch(
      ErrorKind::kRankMismatch, "rank 0 has given step 7, rank 2 has step 6",
      [](Group& group) { group.all_reduce(filled(4, 1), {.step = group.rank() == 2 ? 6 : 7}); });
}

TEST(Group, TellsEveryRankWhenAccumulationDiffers) {
  expect_mismatch(
      ErrorKind::kRankMismatch, "accumulation wide, rank 1 has native", [](Group& group) {
        group.all_reduce(filled(4, 1), {.accumulation = group.rank() == 1 ? Accumulation::kNative
                                                                          : Accumulation::kWide});
      });
}

TEST(Group, RefusesAnExactSum) {
  expect_mismatch(ErrorKind::kBadOption, "accumulation exact is not for all_reduce",
                  [](Group& group) {
                    group.all_reduce(filled(4, 1.0F), {.accumulation = Accumulation::kExact});
                  });
}

TEST(Group, TellsEveryRankWhenCallsDiffer) {
  expect_mismatch(ErrorKind::kRankMismatch, "rank 0 has called all_reduce, rank 1 has barrier",
                  [](Group& group) {
                    if (group.rank() == 1)
                      group.barrier();
                    else
                      group.all_reduce(filled(4, 1));
                  });
}

TEST(Group, NamesTheRankThatDoesNotComeAndGoesOnWhenItDoes) {
  auto groups = make_groups(2, duration<double>(0.1));
  try {
    groups[0].all_reduce(filled(4, 1.0F));
    ADD_FAILURE();
  } catch (const DeadlineExceeded& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("all_reduce of float32 [4] by direct (operation 1)"));
  }
  EXPECT_EQ(groups[0].epoch(), 1U);
  EXPECT_EQ(groups[1].epoch(), 1U);
  // The one that was not in the failed call joins with its next one.
  on_all_ranks(groups, [](Group& group) {
    EXPECT_EQ(group.all_reduce(filled(2, group.rank())).to_vector<int>(), (std::vector<int>{1, 1}));
  });
}

TEST(Group, RefusesOutputsThatDoNotFit) {
  auto groups = make_groups(1);
  std::vector<float> numbers(8);
  const Tensor input = Tensor::view(std::span<const float>(numbers).first(4), {4});
  const auto refuse = [&](const TensorView& out, const std::string& sentence) {
    try {
      groups[0].all_reduce(input, out);
      ADD_FAILURE();
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr(sentence));
    }
  };
  const std::span<float> out(numbers);
  refuse(TensorView::over(out.first(4), {2, 2}), "has shape [2,2], but its result has [4]");
  refuse({std::as_writable_bytes(out.first(4)), DType::kInt32, {4}},
         "is int32, but its result is float32");
  refuse({std::as_writable_bytes(out.first(3)), DType::kFloat32, {4}},
         "has 12 bytes instead of 16");
  refuse(TensorView::over(out.subspan(2, 4), {4}), "overlaps its input");
}

// A call like the one before takes a shorter way, past checks that the one before has passed.
TEST(Group, RefusesWhatIsWrongInACallLikeTheOneBefore) {
  auto groups = make_groups(1);
  const Tensor input = filled(2, 1);
  std::vector<int> sums(3);
  const auto reduce = [&](std::size_t first, const AllReduceOptions& options) {
    groups[0].all_reduce(input, TensorView::over(std::span(sums).subspan(first, 2), Shape{2}),
                         options);
  };
  const std::vector<AllReduceOptions> wrong = {
      {.timeout = duration<double>(0)},
      {.extents = {2}},
      {.priority = -1},
      {.accumulation = Accumulation::kExact},
      {.op = static_cast<ReduceOp>(99)},
  };
  for (const AllReduceOptions& options : wrong) {
    for (int lane = 0; lane < 2; ++lane) reduce(0, {});
    EXPECT_THROW(reduce(0, options), InvalidArgument);
  }
  for (int lane = 0; lane < 2; ++lane) reduce(1, {});
  EXPECT_THROW(
      groups[0].all_reduce(input, {std::as_writable_bytes(std::span(sums)), DType::kInt32, {2}}),
      InvalidArgument);
  EXPECT_THROW(groups[0].all_reduce(Tensor::view(std::span<const int>(sums).first(2), Shape{2}),
                                    TensorView::over(std::span(sums).subspan(1, 2), Shape{2})),
               InvalidArgument);
}

TEST(Group, RefusesUnknownAlgorithmsAndTimeouts) {
  auto groups = make_groups(1);
  EXPECT_THROW(groups[0].all_reduce(filled(1, 1), {.algorithm = "gossip"}), InvalidArgument);
  EXPECT_THROW(groups[0].all_reduce(filled(1, 1), {.timeout = duration<double>(0)}),
               InvalidArgument);
}

}  // namespace
}  // namespace fanin
