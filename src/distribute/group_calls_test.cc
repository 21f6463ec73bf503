// What groups do besides the all-reduce of one tensor, by threads and by processes.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "distribute/test_groups.h"
#include "fanin/add_n.h"
#include "fanin/error.h"

namespace fanin {
namespace {

using test::are_same;
using test::expect;
using test::filled;
using test::in_processes;
using test::on_all_ranks;
using test::tensor_over;
using testing::Each;
using testing::IsEmpty;

/// Every way in which data goes: in the first message, in a slot, by windows or directly.
constexpr std::size_t kCounts[] = {0, 1, 10, 11, 500, 513, 5'000, 20'000, 300'007};

/// Numbers that tell ranks and positions apart, and whose sums round.
std::span<const float> numbers_of(int rank, std::size_t count) {
  static test::Rows rows([](int of_rank) {
    std::vector<float> numbers(*std::ranges::max_element(kCounts));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(of_rank + 1) + static_cast<float>(i % 101) / 7.0F;
    return numbers;
  });
  return rows.first(rank, count);
}

Tensor tensor_of(int rank, std::size_t count) { return tensor_over(numbers_of(rank, count)); }

/// The sum by add_n, whose order the direct algorithm has.
std::span<const float> sum_of(int size, std::size_t count) {
  static test::Rows rows([](int rank_count) {
    std::vector<Tensor> terms;
    for (int rank = 0; rank < rank_count; ++rank)
      terms.push_back(tensor_of(rank, *std::ranges::max_element(kCounts)));
    return add_n(terms).to_vector<float>();
  });
  return rows.first(size, count);
}

void check_all_reduce(Group& group) {
  for (const std::size_t count : kCounts) {
    const std::string at = fmt::format("{} elements", count);
    const std::span<const float> wanted = sum_of(group.size(), count);
    const auto is_right = [&](const Tensor& sum) {
      return are_same(sum.to_vector<float>(), wanted);
    };
    expect(is_right(group.all_reduce(tensor_of(group.rank(), count))), at);
    // In place, in memory that all see.
    const Buffer buffer = group.allocate(count * sizeof(float));
    const std::span<const float> numbers = numbers_of(group.rank(), count);
    if (count > 0) std::memcpy(buffer.bytes().data(), numbers.data(), count * sizeof(float));
    const Shape shape{static_cast<std::int64_t>(count)};
    group.all_reduce(Tensor::view(buffer.bytes(), DType::kFloat32, shape),
                     {buffer.bytes(), DType::kFloat32, shape});
    expect(is_right(Tensor::view(buffer.bytes(), DType::kFloat32, shape)),
           at + " in registered memory");
    // Only one rank has such memory.
    std::vector<float> mine(numbers.begin(), numbers.end());
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(mine));
    if (group.rank() == 0 && count > 0)
      std::memcpy(buffer.bytes().data(), numbers.data(), count * sizeof(float));
    const std::span<std::byte> used = group.rank() == 0 ? buffer.bytes() : bytes;
    group.all_reduce(Tensor::view(used, DType::kFloat32, shape), {used, DType::kFloat32, shape});
    expect(is_right(Tensor::view(used, DType::kFloat32, shape)), at + " in mixed memory");
  }
}

void check_lists(Group& group) {
  for (const std::vector<std::size_t>& counts :
       {std::vector<std::size_t>{1, 2}, {0, 300, 7}, {5'000, 0, 60'000, 1}}) {
    std::vector<Tensor> inputs;
    std::vector<TensorView> outputs;
    std::vector<std::vector<float>> results;
    for (const std::size_t count : counts) {
      inputs.push_back(tensor_of(group.rank(), count));
      results.emplace_back(count);
    }
    for (std::size_t i = 0; i < counts.size(); ++i)
      outputs.push_back(TensorView::over(std::span(results[i]), inputs[i].shape()));
    group.all_reduce(inputs, outputs);
    for (std::size_t i = 0; i < counts.size(); ++i)
      expect(are_same(results[i], sum_of(group.size(), counts[i])), fmt::format("tensor {}", i));
  }
}

/// Pieces of one buffer, wherever they lie in it: what lies between them stays.
void check_pieces(Group& group) {
  constexpr std::size_t kElements = 60'000;
  constexpr float kUntouched = -7;
  const Buffer buffer = group.allocate((kElements + 1) * sizeof(float));
  // Ranks have their pieces at different places of a page.
  const std::span all(reinterpret_cast<float*>(buffer.bytes().data()), kElements + 1);
  const std::span<float> row = all.subspan(group.rank() % 2 == 0 ? 0 : 1, kElements);
  for (const std::vector<std::size_t>& starts :
       {std::vector<std::size_t>{1, 5'001}, {0, 20'000}, {1024, 33'792}, {3, 10, 700, 50'000}}) {
    std::ranges::fill(row, kUntouched);
    std::vector<float> wanted(row.begin(), row.end());
    std::vector<Tensor> inputs;
    std::vector<TensorView> outputs;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      const std::size_t count = starts[i + 1] - starts[i] - (i == 0 ? 1 : 0);
      const std::span<float> piece = row.subspan(starts[i], count);
      std::ranges::copy(numbers_of(group.rank(), count), piece.begin());
      std::ranges::copy(sum_of(group.size(), count),
                        wanted.begin() + static_cast<std::ptrdiff_t>(starts[i]));
      const Shape shape{static_cast<std::int64_t>(count)};
      inputs.push_back(Tensor::view(std::span<const float>(piece), shape));
      outputs.push_back(TensorView::over(piece, shape));
    }
    group.all_reduce(inputs, outputs);
    expect(are_same(row, wanted), fmt::format("pieces from {}", starts.front()));
    group.barrier();
  }
}

void check_reduce(Group& group) {
  for (int root = 0; root < group.size(); ++root)
    for (const std::size_t count : {0, 3, 70'001}) {
      std::vector<float> result(root == group.rank() ? static_cast<std::size_t>(count) : 0);
      const Tensor input = tensor_of(group.rank(), static_cast<std::size_t>(count));
      group.reduce(
          input,
          root == group.rank() ? TensorView::over(std::span(result), input.shape()) : TensorView{},
          root);
      if (root == group.rank())
        expect(are_same(result, sum_of(group.size(), static_cast<std::size_t>(count))), "reduce");
    }
}

void check_broadcast(Group& group) {
  for (int root = 0; root < group.size(); ++root)
    for (const std::size_t count : {0, 3, 70'001}) {
      const auto mine = numbers_of(group.rank(), static_cast<std::size_t>(count));
      std::vector<float> numbers(mine.begin(), mine.end());
      group.broadcast(TensorView::over(std::span(numbers), Shape{static_cast<std::int64_t>(count)}),
                      root);
      expect(are_same(numbers, numbers_of(root, static_cast<std::size_t>(count))), "broadcast");
    }
}

void check_all_gather(Group& group) {
  for (const std::int64_t rows : {0, 1, 1000}) {
    // Rank r has r more rows.
    std::vector<std::int64_t> wanted;
    for (int rank = 0; rank < group.size(); ++rank)
      wanted.insert(wanted.end(), static_cast<std::size_t>(2 * (rows + rank)), rank);
    const std::int64_t own = rows + group.rank();
    const Tensor mine = Tensor::of(std::span<const std::int64_t>(std::vector<std::int64_t>(
                                       static_cast<std::size_t>(2 * own), group.rank())),
                                   Shape{own, 2});
    const Tensor all = group.all_gather(mine);
    expect(all.to_vector<std::int64_t>() == wanted, "all_gather");
    expect(all.shape()[1] == 2, "the rows' shape");
  }
}

void check_handles(Group& group) {
  constexpr int kCount = 9;
  std::vector<std::vector<float>> results(kCount);
  std::vector<Tensor> inputs;
  std::vector<Handle> handles;
  for (int i = 0; i < kCount; ++i) {
    const std::size_t count = kCounts[i];
    results[static_cast<std::size_t>(i)].resize(count);
    inputs.push_back(tensor_of(group.rank(), count));
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const TensorView out = TensorView::over(std::span(results[i]), inputs[i].shape());
    handles.push_back(group.start_all_reduce({&inputs[i], 1}, {&out, 1}));
    if (i % 3 == 1) group.barrier();
  }
  expect(group.all_reduce(filled(4, 1)).to_vector<int>()[3] == group.size(), "beside handles");
  for (std::size_t i = 0; i < kCount; ++i) {
    handles[i].wait();
    expect(handles[i].is_done(), "done");
    expect(are_same(results[i], sum_of(group.size(), kCounts[i])), fmt::format("handle {}", i));
  }
}

/// All ranks wait for each operation, or one does, or none, or all wait for every other: those that
/// are under way at once, and overtake each other, must not meet in the same windows.
void check_handles_of_some(Group& group) {
  constexpr std::size_t kCount = 300'000;
  constexpr int kOperations = 4;
  std::vector<Tensor> inputs;
  for (int i = 0; i < kOperations; ++i)
    inputs.push_back(filled(kCount, static_cast<float>(10 * i + group.rank())));
  for (int round = 0; round < 5; ++round) {
    if (round == 4) group.barrier();  // what was on one lane is now on the other
    std::vector<std::vector<float>> results(kOperations, std::vector<float>(kCount));
    std::vector<Handle> handles;
    for (std::size_t i = 0; i < kOperations; ++i) {
      const TensorView out = TensorView::over(std::span(results[i]), inputs[i].shape());
      const AllReduceOptions options{.priority = static_cast<int>(i % 2)};
      if (round == 0 || (round == 1 && group.rank() == 0) || (round >= 3 && i % 2 == 1))
        group.all_reduce({&inputs[i], 1}, {&out, 1}, options);
      else
        handles.push_back(group.start_all_reduce({&inputs[i], 1}, {&out, 1}, options));
    }
    for (Handle& handle : handles) handle.wait();
    for (int i = 0; i < kOperations; ++i) {
      const int wanted = 10 * i * group.size() + group.size() * (group.size() - 1) / 2;
      const std::vector<float>& result = results[static_cast<std::size_t>(i)];
      expect(std::ranges::count(result, static_cast<float>(wanted)) == kCount,
             fmt::format("round {}, operation {}", round, i));
    }
  }
}

void check_subgroups(Group& group) {
  std::vector<int> even, all(static_cast<std::size_t>(group.size()));
  for (int rank = 0; rank < group.size(); rank += 2) even.push_back(rank);
  std::iota(all.rbegin(), all.rend(), 0);  // the other way round
  for (int round = 0; round < 3; ++round) {
    std::optional<Group> some = group.subgroup(even);
    expect(some.has_value() == (group.rank() % 2 == 0), "membership");
    std::optional<Group> reversed = group.subgroup(all);
    expect(reversed->rank() == group.size() - 1 - group.rank(), "the rank in the list's order");
    if (some) {
      expect(some->rank() == group.rank() / 2, "rank");
      expect(some->all_reduce(filled(3, 1)).to_vector<int>()[0] == static_cast<int>(even.size()),
             "a sum over some");
    }
    expect(reversed->all_reduce(filled(30'000, 1)).to_vector<int>()[0] == group.size(),
           "a sum over all");
    group.barrier();
  }
}

struct Check {
  const char* name;
  void (*run)(Group&);
};
// The first one begins without handles, and the group has had some after it.
constexpr Check kChecks[] = {{"handles of some", check_handles_of_some},
                             {"all_reduce", check_all_reduce},
                             {"lists", check_lists},
                             {"pieces", check_pieces},
                             {"reduce", check_reduce},
                             {"broadcast", check_broadcast},
                             {"all_gather", check_all_gather},
                             {"handles", check_handles},
                             {"subgroups", check_subgroups}};

TEST(GroupCalls, AreRightBetweenThreads) {
  for (const int size : {1, 2, 3, 5}) {
    for (const Check& check : kChecks) {
      std::vector<Group> groups = in_process(size, test::Seconds(60));
      on_all_ranks(groups, [&](Group& group) {
        EXPECT_EQ(test::error_of([&] { check.run(group); }), "") << check.name << ", " << size;
      });
    }
  }
}

TEST(GroupCalls, AreRightBetweenProcesses) {
  for (const int size : {2, 3, 8})
    EXPECT_THAT(in_processes(size,
                             [](Group& group) {
                               for (const Check& check : kChecks) check.run(group);
                             }),
                Each(IsEmpty()))
        << size << " processes";
}

TEST(GroupCalls, RegisteredMemoryIsUsedAgainAndOutlivesTheGroup) {
  EXPECT_THAT(
      in_processes(2,
                   [](Group& borrowed) {
                     std::optional<Group> group(std::move(borrowed));
                     const std::byte* first = nullptr;
                     {
                       const Buffer one = group->allocate(3 << 20);
                       first = one.bytes().data();
                       const Buffer other = group->allocate(100);
                       expect(other.bytes().data() != first, "apart");
                     }
                     Buffer again = group->allocate(3 << 20);
                     expect(again.bytes().data() == first, "the same memory again");
                     // The last are too near to the end of a size_t to be rounded up.
                     for (const std::size_t bytes :
                          {std::size_t{1} << 46, SIZE_MAX - 4095, SIZE_MAX - 7, SIZE_MAX})
                       expect(test::error_of([&] {
                                group->allocate(bytes);
                              }).find("in one piece of the registered memory") != std::string::npos,
                              "too much");
                     group.reset();
                     again.bytes()[0] = std::byte{1};
                   }),
      Each(IsEmpty()));
}

}  // namespace
}  // namespace fanin
