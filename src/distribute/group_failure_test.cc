// What ranks are told when others do not come, die, leave or ask for something else, and how they
// go on. By threads and by processes.

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "distribute/test_groups.h"
#include "fanin/error.h"
#include "transports/hostile.h"

namespace fanin {
namespace {

using test::error_of;
using test::expect;
using test::filled;
using test::in_processes;
using test::on_all_ranks;
using test::Seconds;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

void expect_sum(Group& group) {
  expect(group.all_reduce(filled(3, 1)).to_vector<int>()[2] == group.size(), "a wrong sum");
}

TEST(GroupFailure, ALateRankIsNamedToAllAndJoinsWithItsNextCall) {
  std::vector<Group> groups = in_process(3, Seconds(0.2));
  std::vector<std::string> errors(3);
  on_all_ranks(groups, [&](Group& group) {
    if (group.rank() != 2)
      errors[static_cast<std::size_t>(group.rank())] =
          error_of([&] { group.all_reduce(filled(100'000, 1.0F)); });
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 2"), HasSubstr("float32 [100000] by direct")));
  EXPECT_THAT(errors[1], HasSubstr("rank 2"));
  on_all_ranks(groups, [](Group& group) {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(error_of([&] { expect_sum(group); }), "");
  });
  EXPECT_EQ(groups[0].epoch(), 1U);
}

TEST(GroupFailure, ACallOfAnEpochThatIsOverIsNotMade) {
  std::vector<Group> groups = in_process(2, Seconds(30));
  error_of([&] { groups[0].all_reduce(filled(4, 1), {.timeout = Seconds(0.05)}); });
  on_all_ranks(groups, [](Group& group) {
    const auto old = HasSubstr("an operation that had not begun: rank 0 gave up: rank 0 waited");
    EXPECT_THAT(error_of([&] { group.all_reduce(filled(4, 1), {.epoch = 0}); }), old);
    EXPECT_THAT(error_of([&] { group.barrier({.epoch = 0}); }), old);
    EXPECT_THAT(error_of([&] { group.all_gather(filled(4, 1), MoveOptions{.epoch = 0}); }), old);
    EXPECT_THAT(error_of([&] { group.refuse("no", 0); }), old);
    EXPECT_EQ(error_of([&] { group.all_reduce(filled(4, 1), {.epoch = 1}); }), "");
    EXPECT_EQ(error_of([&] { expect_sum(group); }), "");
  });
}

TEST(GroupFailure, OneWhoGivesUpEarlyTellsTheOthersAtOnce) {
  std::vector<Group> groups = in_process(3, Seconds(60));
  const Deadline start = Clock::now();
  on_all_ranks(groups, [](Group& group) {
    if (group.rank() == 2) return;
    const AllReduceOptions options{.timeout = group.rank() == 0 ? std::optional(Seconds(0.1))
                                                                : std::nullopt};
    try {
      group.all_reduce(filled(4, 1), options);
      ADD_FAILURE();
    } catch (const DeadlineExceeded& error) {
      EXPECT_THAT(error.what(), HasSubstr("s for rank 2, until the deadline"));
    }
  });
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
}

TEST(GroupFailure, RefusedArgumentsAreToldToTheOthers) {
  std::vector<Group> groups = in_process(3, Seconds(60));
  on_all_ranks(groups, [](Group& group) {
    const bool is_odd = group.rank() == 1;
    for (int round = 0; round < 3; ++round) {
      const std::string error = error_of(
          [&] { group.all_reduce(filled(4, 1), {.algorithm = is_odd ? "gossip" : "ring"}); });
      EXPECT_THAT(error, HasSubstr("there is no algorithm \"gossip\""));
      if (!is_odd) {
        EXPECT_THAT(error, HasSubstr("the arguments of rank 1 were refused"));
      }
    }
    expect_sum(group);
    EXPECT_EQ(group.epoch(), 0U) << "nobody failed";
  });
}

TEST(GroupFailure, DifferencesInAListNameTheTensor) {
  std::vector<Group> groups = in_process(2, Seconds(60));
  on_all_ranks(groups, [](Group& group) {
    std::vector<Tensor> inputs = {filled(2, 1.0F), filled(3, 1.0F),
                                  filled(group.rank() == 1 ? 5 : 4, 1.0F)};
    std::vector<std::vector<float>> results = {{0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0}};
    std::vector<TensorView> outputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      outputs.push_back(TensorView::over(std::span(results[i]).first(inputs[i].element_count()),
                                         inputs[i].shape()));
    EXPECT_THAT(error_of([&] { group.all_reduce(inputs, outputs); }),
                HasSubstr("rank 0 has shape of tensor 2 [4], rank 1 has [5]"));
    EXPECT_THAT(error_of([&] { group.broadcast(outputs[0], group.rank()); }),
                HasSubstr("rank 0 has root 0, rank 1 has 1"));
    expect_sum(group);
  });
}

TEST(GroupFailure, HandlesGiveTheErrorAndTheGroupGoesOn) {
  std::vector<Group> groups = in_process(2, Seconds(0.1));
  const Tensor input = filled(8, 1);
  std::vector<int> result(8);
  const TensorView out = TensorView::over(std::span(result), {8});
  const Handle first = groups[0].start_all_reduce({&input, 1}, {&out, 1});
  const Handle second = groups[0].start_all_reduce({&input, 1}, {&out, 1});
  EXPECT_THROW(first.wait(), DeadlineExceeded);
  EXPECT_THROW(first.wait(), DeadlineExceeded) << "each time";
  EXPECT_THROW(second.wait(), DeadlineExceeded) << "of the same epoch";
  on_all_ranks(groups, [](Group& group) { expect_sum(group); });
}

TEST(GroupFailure, SurvivorsOfADeathAreToldAndShrink) {
  for (const int size : {2, 3, 5}) {
    const auto results = in_processes(size, [](Group& group) {
      const int victim = group.size() / 2;
      expect_sum(group);
      if (group.rank() == victim) ::raise(SIGKILL);
      const std::string name = fmt::format("rank {}", victim);
      for (int call = 0; call < 2; ++call) {
        try {
          group.all_reduce(filled(100'000, 1.0F));
          expect(false, "the call returned");
        } catch (const PeerFailure& error) {
          expect(std::string(error.what()).find(name) != std::string::npos, error.what());
        }
      }
      Group rest = group.shrink();
      expect(rest.size() == group.size() - 1, "the size");
      for (int call = 0; call < 20; ++call) expect_sum(rest);
      expect(rest.all_reduce(filled(100'000, 1)).to_vector<int>()[99'999] == rest.size(), "large");
    });
    for (int rank = 0; rank < size; ++rank)
      EXPECT_THAT(results[static_cast<std::size_t>(rank)],
                  rank == size / 2 ? testing::StrEq("signal 9") : testing::StrEq(""))
          << size << " ranks, rank " << rank;
  }
}

/// Later groups use memory of earlier ones, which have shrunk too.
TEST(GroupFailure, SurvivorsShrinkAgainAndAgain) {
  constexpr int kSize = 6;
  const auto results = in_processes(kSize, [](Group& first) {
    Group group = std::move(first);
    for (int round = 0; group.size() > 1; ++round) {
      expect_sum(group);
      if (group.rank() == round % group.size()) ::raise(SIGKILL);
      const std::string error = error_of([&] { expect_sum(group); });
      expect(!error.empty(), "nobody has died");
      const int size = group.size();
      group = group.shrink();
      expect(group.size() == size - 1, fmt::format("{} after {}", group.size(), size));
    }
    expect_sum(group);
  });
  EXPECT_EQ(std::ranges::count(results, "signal 9"), kSize - 1) << testing::PrintToString(results);
  EXPECT_EQ(std::ranges::count(results, ""), 1) << testing::PrintToString(results);
}

/// Groups that have no rank in common know nothing of each other, whatever memory they use.
TEST(GroupFailure, GroupsThatHaveNoRankInCommonDoNotDisturbEachOther) {
  EXPECT_THAT(in_processes(4,
                           [](Group& group) {
                             const std::vector<int> low = {0, 1};
                             const std::vector<int> high = {2, 3};
                             std::optional<Group> first = group.subgroup(low);
                             std::optional<Group> second = group.subgroup(high);
                             if (second)
                               for (int call = 0; call < 20'000; ++call) expect_sum(*second);
                             else
                               for (int i = 0; i < 50; ++i) {
                                 std::optional<Group> inner = first->subgroup(low);
                                 expect_sum(*inner);
                               }
                             group.barrier();
                           }),
              testing::Each(IsEmpty()));
}

TEST(GroupFailure, AStoppedRankIsADeadlineAndTheGroupWorksAfterwards) {
  const auto results = in_processes(
      3,
      [](Group& group) {
        expect_sum(group);
        if (group.rank() == 1) {
          // A child of this process lets it go on.
          const pid_t me = ::getpid();
          if (::fork() == 0) {
            ::usleep(900'000);
            ::kill(me, SIGCONT);
            ::_exit(0);
          }
          ::raise(SIGSTOP);
        } else {
          const std::string error = error_of([&] { expect_sum(group); });
          expect(error.find("rank 1") != std::string::npos, error);
          ::usleep(600'000);
        }
        expect_sum(group);
      },
      Seconds(0.4));
  EXPECT_THAT(results, testing::Each(IsEmpty()));
}

/// One rank is late in the middle of a call, when it may write into the others' memory.
TEST(GroupFailure, WhatALateRankWritesIsNotSeen) {
  const std::vector<std::string> results = test::outcomes(
      {.kind = test::Kind::kProcesses, .size = 2, .window_bytes = 1 << 20},
      test::OwningBody([&](std::unique_ptr<Transport> transport) {
        // The second operation enters by two steps; the next is the access.
        if (transport->rank() == 1)
          transport = make_hostile(std::move(transport),
                                   {.mischief = Mischief::kDelay, .step = 3, .delay = 600ms});
        Group group(std::move(transport), Seconds(0.2));
        expect_sum(group);
        constexpr std::size_t kCount = 100'000;
        const Buffer buffer = group.allocate(kCount * sizeof(float));
        const std::span numbers(reinterpret_cast<float*>(buffer.bytes().data()), kCount);
        const Shape shape{static_cast<std::int64_t>(kCount)};
        const auto sum = [&] {
          group.all_reduce(Tensor::view(std::span<const float>(numbers), shape),
                           TensorView::over(numbers, shape));
        };
        std::ranges::fill(numbers, 1.0F);
        const std::string error = error_of(sum);
        expect(error.find("rank 1") != std::string::npos, "told: " + error);
        if (group.rank() == 0) {
          expect(std::ranges::count(numbers, 1.0F) >= std::ptrdiff_t{kCount / 2 - 1024},
                 "what the late rank had to write is as it was");
          std::ranges::fill(numbers, 3.0F);
          std::this_thread::sleep_for(800ms);
          expect(std::ranges::count(numbers, 3.0F) == std::ptrdiff_t{kCount}, "written late");
        } else {
          std::this_thread::sleep_for(400ms);
          std::ranges::fill(numbers, 3.0F);
        }
        for (int i = 0; i < 10 && !error_of([&] { group.barrier(); }).empty(); ++i) continue;
        sum();
        expect(std::ranges::count(numbers, 6.0F) == std::ptrdiff_t{kCount}, "a wrong sum");
      }));
  EXPECT_THAT(results, testing::Each(IsEmpty()));
}

/// The same with private memory, which goes by pads: each rank moves its own when it gives up, and
/// the others must follow.
TEST(GroupFailure, PrivateMemoryIsSummedRightlyAfterALateRank) {
  const std::vector<std::string> results = test::outcomes(
      {.kind = test::Kind::kProcesses, .size = 2, .window_bytes = 1 << 20},
      test::OwningBody([&](std::unique_ptr<Transport> transport) {
        if (transport->rank() == 1)
          transport = make_hostile(std::move(transport),
                                   {.mischief = Mischief::kDelay, .step = 5, .delay = 400ms});
        Group group(std::move(transport), Seconds(0.2));
        expect_sum(group);
        constexpr std::size_t kCount = 100'000;
        const auto sum = [&](float number) {
          return group.all_reduce(test::filled(kCount, number)).to_vector<float>();
        };
        const std::string error = error_of([&] { sum(1); });
        expect(error.find("rank 1") != std::string::npos, "told: " + error);
        std::this_thread::sleep_for(group.rank() == 0 ? 300ms : 0ms);
        for (int i = 0; i < 10 && !error_of([&] { group.barrier(); }).empty(); ++i) continue;
        for (int i = 1; i < 12; ++i)
          expect(
              sum(static_cast<float>(i)) == std::vector<float>(kCount, static_cast<float>(2 * i)),
              "a wrong sum");
      }));
  EXPECT_THAT(results, testing::Each(IsEmpty()));
}

/// Two ranks put their data where the other's was before. One that is late does so when the other
/// has begun anew, in the same place if it could.
TEST(GroupFailure, WhatALateRankPutsIntoATradedSlotIsNotSeen) {
  constexpr std::size_t kCount = 10'000;
  const Shape shape{static_cast<std::int64_t>(kCount)};
  for (std::uint64_t step = 12; step < 18; ++step)
    EXPECT_THAT(test::outcomes(
                    {.kind = test::Kind::kProcesses, .size = 2, .window_bytes = 1 << 20},
                    test::OwningBody([&](std::unique_ptr<Transport> transport) {
                      if (transport->rank() == 1)
                        transport = make_hostile(
                            std::move(transport),
                            {.mischief = Mischief::kDelay, .step = step, .delay = 600ms});
                      Group group(std::move(transport), Seconds(0.2));
                      std::vector<float> sum(kCount);
                      const TensorView to = TensorView::over(std::span<float>(sum), shape);
                      std::string error;
                      for (int call = 0; call < 14 && error.empty(); ++call)
                        error = error_of([&] { group.all_reduce(test::filled(kCount, 1.0F), to); });
                      expect(!error.empty(), "nobody was late");
                      // Two at once: the second is on the lane on which the other is late.
                      const Tensor mine = test::filled(kCount, group.rank() == 0 ? 5.0F : 7.0F);
                      std::vector<float> first(kCount);
                      const TensorView to_first = TensorView::over(std::span<float>(first), shape);
                      for (int i = 0; i < 20 && !error.empty(); ++i)
                        error = error_of([&] {
                          Handle one = group.start_all_reduce({&mine, 1}, {&to_first, 1});
                          const std::string other = error_of([&] { group.all_reduce(mine, to); });
                          one.wait();
                          expect(other.empty(), other);
                        });
                      expect(error.empty(), "at last: " + error);
                      expect(sum == std::vector<float>(kCount, 12), fmt::format("got {}", sum[1]));
                    })),
                testing::Each(IsEmpty()))
        << step;
}

TEST(GroupFailure, TheLastSignOfLifeIsTheLastOfAllOperations) {
  std::vector<Group> groups = in_process(2, 300ms);
  on_all_ranks(groups, [](Group& group) {
    for (int i = 0; i < 2; ++i) group.barrier();
    if (group.rank() == 1) return;
    EXPECT_THAT(error_of([&] { group.barrier(); }), HasSubstr("it last entered operation 2"));
    std::vector<float> got(1);
    EXPECT_THAT(error_of([&] { group.receive(TensorView::over(std::span(got), Shape{1}), 1); }),
                HasSubstr("it last entered operation 2 of an earlier epoch"));
  });
}

TEST(GroupFailure, WhoWasTooLateForShrinkingTriesTheSameAgain) {
  std::vector<Group> groups = in_process(2, 200ms);
  EXPECT_THAT(error_of([&] { groups[0].shrink(); }), HasSubstr("does not shrink it"));
  EXPECT_THAT(error_of([&] { groups[0].shrink(); }), HasSubstr("does not shrink it"));
  on_all_ranks(groups, [](Group& group) {
    group = group.shrink();
    EXPECT_EQ(group.size(), 2);
    const std::vector<float> ones(100, 1);
    EXPECT_EQ(group.all_reduce(test::tensor_over(ones)).to_vector<float>(),
              std::vector<float>(100, 2));
  });
}

TEST(GroupFailure, ShrinkingNamesWhoLivesAndDoesNotCome) {
  std::vector<Group> groups = in_process(2, Seconds(0.1));
  EXPECT_THAT(error_of([&] { groups[0].shrink(); }),
              HasSubstr("for rank 1, which lives but does not shrink it"));
}

TEST(GroupFailure, SubgroupsAreChecked) {
  std::vector<Group> groups = in_process(1, Seconds(1));
  const auto refuse = [&](std::vector<int> ranks, const std::string& sentence) {
    EXPECT_THAT(error_of([&] { groups[0].subgroup(ranks); }), HasSubstr(sentence));
  };
  refuse({}, "a group needs at least one rank");
  refuse({1}, "rank 1 does not exist in a group of 1");
  refuse({0, 0}, "rank 0 stands twice");
}

TEST(GroupFailure, ThereIsAnEndToGroups) {
  std::vector<Group> groups = in_process(1, Seconds(1));
  std::vector<Group> more;
  const std::vector<int> ranks = {0};
  std::string error;
  while (error.empty() && more.size() < 100)
    error = error_of([&] { more.push_back(std::move(*groups[0].subgroup(ranks))); });
  EXPECT_THAT(error, HasSubstr("a process can be in 21 groups at once"));
  more.clear();
  EXPECT_EQ(error_of([&] { groups[0].subgroup(ranks); }), "");
}

// The one that is waited for may have noticed it, and gone on to something else.
TEST(GroupFailure, WhoHasLeftIsMissedByThoseWhoWaitForAnother) {
  std::vector<Group> groups = in_process(3, test::Seconds(30));
  { const Group gone = std::move(groups[1]); }
  EXPECT_THAT(
      test::error_of([&] { groups[2].barrier(); }),
      testing::AllOf(testing::HasSubstr("rank 2 waited for rank 0"), testing::HasSubstr("rank 1"),
                     testing::HasSubstr("has left the group")));
}

}  // namespace
}  // namespace fanin
