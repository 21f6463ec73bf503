// Messages from one rank of a group to another.

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "distribute/test_groups.h"
#include "fanin/error.h"

namespace fanin {
namespace {

using test::are_same;
using test::error_of;
using test::expect;
using test::in_processes;
using test::on_all_ranks;
using test::tensor_over;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Within the first block, several, and longer than a ring.
constexpr std::size_t kCounts[] = {0, 1, 1000, 65'536, 70'001, 700'001};

/// Numbers that tell messages and positions apart: a piece of one row that is made once.
std::span<const float> numbers_of(int from, int to, std::size_t count) {
  static const std::vector<float> row = [] {
    std::vector<float> numbers(*std::ranges::max_element(kCounts) + 1'000);
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    return numbers;
  }();
  return std::span(row).subspan(static_cast<std::size_t>(from * 100 + to * 10), count);
}

Tensor tensor_of(const std::vector<float>& numbers) {
  return Tensor::of(std::span<const float>(numbers),
                    Shape{static_cast<std::int64_t>(numbers.size())});
}

TensorView view_of(std::vector<float>& numbers) {
  return TensorView::over(std::span<float>(numbers),
                          Shape{static_cast<std::int64_t>(numbers.size())});
}

/// Round the ring of ranks, one after the other.
void pass_round(Group& group) {
  const int next = (group.rank() + 1) % group.size();
  const int last = (group.rank() + group.size() - 1) % group.size();
  for (const std::size_t count : kCounts) {
    std::vector<float> got(count);
    if (group.rank() == 0) group.send(tensor_over(numbers_of(0, next, count)), next);
    group.receive(view_of(got), last);
    expect(are_same(got, numbers_of(last, group.rank(), count)), fmt::format("{} elements", count));
    if (group.rank() != 0) group.send(tensor_over(numbers_of(group.rank(), next, count)), next);
  }
}

/// All to all at once, with collectives meanwhile.
void exchange(Group& group) {
  for (const std::size_t count : kCounts) {
    if (count > 100'000 && group.size() > 3) continue;
    std::vector<std::vector<float>> got(static_cast<std::size_t>(group.size()));
    std::vector<Handle> handles;
    for (int peer = 0; peer < group.size(); ++peer) {
      if (peer == group.rank()) continue;
      auto& mine = got[static_cast<std::size_t>(peer)];
      mine.resize(count);
      handles.push_back(group.start_send(tensor_over(numbers_of(group.rank(), peer, count)), peer));
      handles.push_back(group.start_receive(view_of(mine), peer));
    }
    expect(group.all_reduce(test::filled<int>(10, 1)).to_vector<int>() ==
               std::vector<int>(10, group.size()),
           "all_reduce");
    for (const Handle& handle : handles) handle.wait();
    for (int peer = 0; peer < group.size(); ++peer)
      expect(peer == group.rank() || are_same(got[static_cast<std::size_t>(peer)],
                                              numbers_of(peer, group.rank(), count)),
             fmt::format("{} elements from rank {}", count, peer));
  }
}

/// Of one tag in order, of another when asked for.
void use_tags(Group& group) {
  if (group.rank() > 1) return;
  std::vector<float> got(1);
  if (group.rank() == 0) {
    std::vector<Handle> handles;
    for (int i = 0; i < 6; ++i)
      handles.push_back(group.start_send(tensor_of({static_cast<float>(i)}), 1,
                                         {.tag = static_cast<std::uint32_t>(i % 2)}));
    for (const Handle& handle : handles) handle.wait();
  } else {
    for (const int wanted : {1, 3, 0, 5, 2, 4}) {
      group.receive(view_of(got), 0, {.tag = static_cast<std::uint32_t>(wanted % 2)});
      expect(got.front() == static_cast<float>(wanted), fmt::format("message {}", wanted));
    }
  }
}

void check_all(Group& group) {
  if (group.size() > 1) pass_round(group);
  exchange(group);
  if (group.size() > 1) use_tags(group);
  group.barrier();
}

std::vector<std::string> by_threads(std::vector<Group> groups,
                                    const std::function<void(Group&)>& body) {
  std::vector<std::string> outcomes(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    outcomes[static_cast<std::size_t>(group.rank())] = error_of([&] { body(group); });
  });
  return outcomes;
}

std::vector<Group> apart(int size) {
  std::vector<Group> groups;
  for (auto& transport :
       test::make_message_transports(std::vector<int>(static_cast<std::size_t>(size), 0)))
    groups.emplace_back(std::move(transport), 30s);
  return groups;
}

TEST(PostOffice, DeliversBetweenThreads) {
  for (const int size : {1, 2, 3, 6})
    EXPECT_THAT(by_threads(in_process(size), check_all), Each(IsEmpty())) << size;
}

TEST(PostOffice, DeliversBetweenProcesses) {
  for (const int size : {2, 4}) EXPECT_THAT(in_processes(size, check_all), Each(IsEmpty()));
}

TEST(PostOffice, DeliversByMessages) {
  for (const int size : {2, 5}) EXPECT_THAT(by_threads(apart(size), check_all), Each(IsEmpty()));
}

TEST(PostOffice, DeliversInSubgroups) {
  EXPECT_THAT(by_threads(in_process(4),
                         [](Group& group) {
                           const std::vector<int> some = {3, 1};
                           for (int i = 0; i < 3; ++i)
                             if (auto part = group.subgroup(some)) check_all(*part);
                         }),
              Each(IsEmpty()));
}

TEST(PostOffice, WhatDiffersIsAnErrorOfBothAndTheNextMessageIsRight) {
  for (const bool by_messages : {false, true})
    EXPECT_THAT(by_threads(by_messages ? apart(2) : in_process(2),
                           [](Group& group) {
                             std::vector<float> got(4);
                             const std::string error = error_of([&] {
                               if (group.rank() == 0)
                                 group.send(tensor_of({1, 2, 3}), 1);
                               else
                                 group.receive(view_of(got), 0);
                             });
                             expect(error.find("rank 0 sent float32 [3] and rank 1 wants float32 "
                                               "[4], message 1 with tag 0") == 0,
                                    error);
                             if (group.rank() == 0)
                               group.send(tensor_of({1, 2, 3, 4}), 1);
                             else
                               group.receive(view_of(got), 0);
                             expect(group.rank() == 0 || got == std::vector<float>({1, 2, 3, 4}),
                                    "the next message");
                           }),
                Each(IsEmpty()));
}

TEST(PostOffice, ADeadlineNamesTheMessageAndEndsTheEpoch) {
  for (const bool by_messages : {false, true}) {
    auto groups = by_messages ? apart(3) : in_process(3);
    std::vector<float> got(4);
    EXPECT_THAT(error_of([&] { groups[0].receive(view_of(got), 2, {.timeout = 50ms}); }),
                AllOf(HasSubstr("rank 0 waited"), HasSubstr("for rank 2"),
                      HasSubstr("receive of float32 [4] from rank 2, tag 0 (message 1)")));
    EXPECT_THAT(by_threads(std::move(groups),
                           [](Group& group) {
                             check_all(group);
                             expect(group.epoch() == 1, "epoch");
                           }),
                Each(IsEmpty()));
  }
}

TEST(PostOffice, RefusesWhatCannotBe) {
  std::vector<Group> groups = in_process(2);
  EXPECT_THAT(error_of([&] { groups[0].send(tensor_of({1}), 2); }),
              HasSubstr("rank 2 does not exist in a group of 2"));
  EXPECT_THAT(error_of([&] { groups[1].send(tensor_of({1}), 1); }),
              HasSubstr("rank 1 can neither send to itself"));
  std::vector<float> got(4);
  TensorView view = view_of(got);
  view.shape = Shape{5};
  EXPECT_THAT(error_of([&] { groups[0].receive(view, 1); }),
              HasSubstr("an output of shape [5] has 16 bytes instead of 20"));
  EXPECT_THAT(error_of([&] { groups[0].receive(view_of(got), 1, {.timeout = -1s}); }),
              HasSubstr("a timeout must be above 0 s, got -1 s"));
}

TEST(PostOffice, WhoHasLeftIsMissedAlsoByThoseWhoWaitForAnotherFirst) {
  std::vector<Group> groups = in_process(3, 20s);
  groups.pop_back();
  std::vector<float> from_1(1);
  std::vector<float> from_2(1);
  Handle first = groups[0].start_receive(view_of(from_1), 1);
  Handle second = groups[0].start_receive(view_of(from_2), 2);
  EXPECT_THAT(error_of([&] { second.wait(); }),
              HasSubstr("rank 0 waited for rank 2, which has left the group or died"));
  EXPECT_THAT(error_of([&] { first.wait(); }), HasSubstr("rank 2"));
}

TEST(PostOffice, ARankThatLeavesIsAPeerFailure) {
  std::vector<Group> groups = in_process(2);
  groups.pop_back();
  std::vector<float> got(4);
  EXPECT_THAT(error_of([&] { groups[0].receive(view_of(got), 1); }),
              HasSubstr("rank 0 waited for rank 1"));
}

}  // namespace
}  // namespace fanin
