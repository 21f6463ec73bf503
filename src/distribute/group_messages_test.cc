// Groups whose ranks see nothing of each other, as those of several hosts do.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <latch>
#include <thread>

#include "core/sanitized.h"
#include "distribute/test_groups.h"
#include "fanin/algorithms.h"
#include "fanin/error.h"

namespace fanin {
namespace {

using test::are_same;
using test::error_of;
using test::expect;
using test::on_all_ranks;
using test::tensor_over;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

std::vector<Group> groups_on(const std::vector<int>& hosts, test::Seconds timeout = 30s) {
  std::vector<Group> groups;
  for (auto& transport : test::make_message_transports(hosts, 32 << 10))
    groups.emplace_back(std::move(transport), timeout);
  return groups;
}

std::vector<Group> groups_of(int size, test::Seconds timeout = 30s) {
  return groups_on(std::vector<int>(static_cast<std::size_t>(size), 0), timeout);
}

/// What each rank threw, by rank.
template <typename Body>
std::vector<std::string> outcomes_of(std::vector<Group>& groups, Body&& body) {
  std::vector<std::string> outcomes(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    outcomes[static_cast<std::size_t>(group.rank())] = error_of([&] { body(group); });
  });
  return outcomes;
}

// In the first message, beside it, and by messages of one block and of several.
constexpr std::size_t kCounts[] = {0, 1, 10, 11, 500, 513, 5'003, 300'007};

/// Numbers whose sum has other bits in another order.
std::span<const float> numbers_of(int rank, std::size_t count) {
  static test::Rows rows([](int of_rank) {
    std::vector<float> numbers(*std::ranges::max_element(kCounts));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] =
          std::ldexp(std::sin(static_cast<float>(i + 1) * static_cast<float>(of_rank + 1)),
                     static_cast<int>((i * 7 + static_cast<std::size_t>(of_rank) * 5) % 24));
    return numbers;
  });
  return rows.first(rank, count);
}

std::vector<std::vector<float>> sums_of(std::vector<Group>& groups, const std::string& algorithm) {
  std::vector<std::vector<float>> sums(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    std::vector<float>& mine = sums[static_cast<std::size_t>(group.rank())];
    for (const std::size_t count : kCounts) {
      const std::vector<float> sum =
          group.all_reduce(tensor_over(numbers_of(group.rank(), count)), {.algorithm = algorithm})
              .to_vector<float>();
      mine.insert(mine.end(), sum.begin(), sum.end());
    }
  });
  return sums;
}

TEST(GroupMessages, EveryAlgorithmGivesTheSameBitsAsOnOneHost) {
  for (const int size : {1, 2, 3, 4, 7, 8}) {
    if (kIsSanitized && (size == 2 || size == 8)) continue;
    for (const Algorithm& algorithm : algorithms()) {
      std::vector<Group> apart = groups_of(size);
      std::vector<Group> together = in_process(size);
      const std::string name(algorithm.name);
      ASSERT_TRUE(std::ranges::equal(sums_of(apart, name), sums_of(together, name), are_same))
          << name << ", " << size << " ranks";
    }
  }
}

TEST(GroupMessages, ManyRanks) {
  // Every rank proves its plans: long under sanitizers.
  std::vector<Group> groups = groups_of(kIsSanitized ? 17 : 33);
  EXPECT_THAT(
      outcomes_of(
          groups,
          [](Group& group) {
            const Tensor one = test::filled<std::int32_t>(1000, 1);
            for (const char* algorithm : {"direct", "ring", "double_tree"})
              expect(group.all_reduce(one, {.algorithm = algorithm}).to_vector<std::int32_t>() ==
                         std::vector<std::int32_t>(1000, group.size()),
                     algorithm);
          }),
      Each(IsEmpty()));
}

TEST(GroupMessages, LevelsFollowTheHosts) {
  for (const std::vector<int>& hosts :
       {std::vector<int>{0, 0, 2, 2}, {0, 1, 0, 1}, {0, 0, 2}, {0, 1, 2, 0, 1, 2}}) {
    std::vector<Group> together = in_process(static_cast<int>(hosts.size()));
    const auto near = sums_of(together, "direct");
    for (const char* algorithm : {"auto", "direct/ring", "direct//ring", "shuffle/ring",
                                  "hierarchical_copy/recursive_doubling"}) {
      std::vector<Group> groups = groups_on(hosts);
      const auto sums = sums_of(groups, algorithm);
      for (const auto& sum : sums) EXPECT_TRUE(are_same(sum, sums.front())) << algorithm;
      ASSERT_EQ(sums.front().size(), near.front().size()) << algorithm;
      const float* const sum = sums.front().data();
      const float* const wanted = near.front().data();
      for (std::size_t i = 0; i < near.front().size(); ++i)
        if (!(std::abs(sum[i] - wanted[i]) <= 1e-5F * (1 << 24)))
          FAIL() << algorithm << ": " << sum[i] << " instead of " << wanted[i] << " at " << i;
    }
  }
}

TEST(GroupMessages, OtherCallsWork) {
  std::vector<Group> groups = groups_on({0, 0, 2, 2, 4});
  EXPECT_THAT(
      outcomes_of(
          groups,
          [](Group& group) {
            std::vector<float> numbers(20'000, static_cast<float>(group.rank()));
            const Shape shape{20'000};
            const TensorView view = TensorView::over(std::span<float>(numbers), shape);
            group.broadcast(view, 3);
            expect(numbers == std::vector<float>(20'000, 3), "broadcast");
            const Tensor all = group.all_gather(
                test::filled<std::int64_t>(static_cast<std::size_t>(group.rank()), group.rank()));
            expect(all.to_vector<std::int64_t>() ==
                       std::vector<std::int64_t>({1, 2, 2, 3, 3, 3, 4, 4, 4, 4}),
                   "all_gather");
            const Tensor one = test::filled<double>(3000, 1);
            std::vector<double> sum(3000);
            group.reduce(one, TensorView::over(std::span<double>(sum), Shape{3000}), 2);
            expect(group.rank() != 2 || sum == std::vector<double>(3000, 5), "reduce");
            group.barrier();
            const std::vector<int> some = {4, 0, 2};
            for (int round = 0; round < 3; ++round) {
              std::optional<Group> part = group.subgroup(some);
              expect(part.has_value() == (group.rank() % 2 == 0), "subgroup");
              if (part)
                expect(part->all_reduce(one).to_vector<double>() == std::vector<double>(3000, 3),
                       "sum of a subgroup");
            }
            std::vector<double> in_place(50'000, 1);
            const TensorView mine = TensorView::over(std::span<double>(in_place), Shape{50'000});
            const Tensor input = Tensor::view(std::span<const double>(in_place), Shape{50'000});
            const Handle handle = group.start_all_reduce({&input, 1}, {&mine, 1});
            group.barrier();
            handle.wait();
            expect(in_place == std::vector<double>(50'000, 5), "handle");
          }),
      Each(IsEmpty()));
}

TEST(GroupMessages, RanksThatDifferAreTold) {
  std::vector<Group> groups = groups_of(3);
  EXPECT_THAT(outcomes_of(groups,
                          [](Group& group) {
                            group.all_reduce(test::filled<float>(group.rank() == 1 ? 5 : 4, 1.0F));
                          }),
              Each(AllOf(HasSubstr("rank 0 has shape [4]"), HasSubstr("rank 1 has [5]"))));
  // The group works on.
  EXPECT_THAT(
      outcomes_of(
          groups,
          [](Group& group) {
            expect(group.all_reduce(test::filled<float>(1, 1.0F)).to_vector<float>().front() == 3,
                   "sum");
          }),
      Each(IsEmpty()));
}

// What is told then is longer than the rings of neighbours, so whoever knows enough must not go.
TEST(GroupMessages, RanksThatDifferInLongListsAreTold) {
  std::vector<Group> groups = groups_on({0, 0, 2, 2}, 10s);
  EXPECT_THAT(outcomes_of(groups,
                          [](Group& group) {
                            std::vector<float> out(2);
                            std::vector<Tensor> tensors(2000, test::filled<float>(1, 1.0F));
                            std::vector<TensorView> views(
                                2000, TensorView::over(std::span<float>(out).first(1), Shape{1}));
                            if (group.rank() == 1) {
                              tensors[7] = test::filled<float>(2, 1.0F);
                              views[7] = TensorView::over(std::span<float>(out), Shape{2});
                            }
                            group.all_reduce(tensors, views);
                          }),
              Each(AllOf(HasSubstr("tensor 7"), HasSubstr("rank 1 has [2]"))));
}

TEST(GroupMessages, ADeadlineEndsTheEpochForAllAndTheLateOneJoinsWithItsNextCall) {
  std::vector<Group> groups = groups_of(3, 100ms);
  const auto sum = [](Group& group) {
    const Tensor result = group.all_reduce(test::filled<float>(10'000, 1.0F), {.timeout = 10s});
    expect(result.to_vector<float>() == std::vector<float>(10'000, 3), "sum");
  };
  std::latch others_gave_up(2);
  const auto outcomes = outcomes_of(groups, [&](Group& group) {
    std::string error;
    if (group.rank() == 2) {
      others_gave_up.wait();
    } else {
      error = error_of([&] { group.all_reduce(test::filled<float>(10'000, 1.0F)); });
      others_gave_up.count_down();
    }
    sum(group);
    expect(group.epoch() == 1, "epoch");
    if (!error.empty()) throw std::runtime_error(error);
  });
  EXPECT_THAT(outcomes[0], HasSubstr("rank 2"));
  EXPECT_THAT(outcomes[1], HasSubstr("rank 2"));
  EXPECT_EQ(outcomes[2], "");
}

// Nobody of the second host waits, so nobody there would pass on what the others must hear.
TEST(GroupMessages, ARefusalReachesOtherHostsByItself) {
  std::vector<Group> groups = groups_on({0, 0, 2, 2}, 3s);
  std::vector<float> numbers(1);
  const TensorView view = TensorView::over(std::span<float>(numbers), Shape{1});
  for (const std::size_t rank : {2U, 3U})
    EXPECT_THAT(error_of([&] { groups[rank].broadcast(view, 9); }), HasSubstr("9"));
  std::vector<std::string> outcomes(2);
  {
    std::jthread first([&] { outcomes[0] = error_of([&] { groups[0].barrier(); }); });
    std::jthread second([&] { outcomes[1] = error_of([&] { groups[1].barrier(); }); });
  }
  EXPECT_THAT(outcomes, Each(AllOf(HasSubstr("rank 2"), testing::Not(HasSubstr("deadline")))));
}

TEST(GroupMessages, ARankThatLeavesIsAPeerFailure) {
  std::vector<Group> groups = groups_of(2);
  groups.pop_back();
  EXPECT_THAT(error_of([&] { groups[0].barrier(); }),
              AllOf(HasSubstr("rank 0 waited for rank 1"), HasSubstr("has left the group")));
}

TEST(GroupMessages, HandlesNeedAnMpiThatServesThreads) {
  Group group(make_message_transport(std::move(test::make_loop_engines({0, 0}, false).front())),
              1s);
  const Tensor one = test::filled<float>(1, 1.0F);
  std::vector<float> out(1);
  const TensorView view = TensorView::over(std::span<float>(out), Shape{1});
  for (const auto& start :
       std::vector<std::function<void()>>{[&] {
                                            group.start_all_reduce({&one, 1}, {&view, 1});
                                          },
                                          [&] { group.start_send(one, 1); }})
    EXPECT_THAT(error_of(start), HasSubstr("MPI_THREAD_SERIALIZED"));
}

TEST(GroupMessages, CannotShrink) {
  std::vector<Group> groups = groups_of(2);
  EXPECT_THAT(error_of([&] { groups[0].shrink(); }), HasSubstr("mpirun ends the job"));
}

}  // namespace
}  // namespace fanin
