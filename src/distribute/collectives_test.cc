// Collectives in which ranks have parts of the data: by every algorithm, between threads and
// between processes.

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "core/count_allocations.h"
#include "core/sanitized.h"
#include "distribute/test_collectives.h"
#include "fanin/add_n.h"
#include "fanin/algorithms.h"

namespace fanin {
namespace {

using namespace test;
using testing::Each;
using testing::IsEmpty;

TEST(Collectives, AreRightForAllKindsOfParts) {
  for (const int size : {1, 2, 3, 5}) {
    std::vector<Group> groups = in_process(size, Seconds(60));
    on_all_ranks(groups, [&](Group& group) {
      for (const List& extents :
           {equal(size, 0), equal(size, 1), equal(size, 7000), uneven(size, 1), uneven(size, 999),
            lopsided(size, 5), lopsided(size, 9001)})
        EXPECT_EQ(error_of([&] { check_all(group, "direct", extents); }), "");
    });
  }
}

TEST(Collectives, AreRightByEveryAlgorithm) {
  for (int size = 1; size <= (kIsSanitized ? 5 : 8); ++size) {
    std::vector<Group> groups = in_process(size, Seconds(120));
    on_all_ranks(groups, [&](Group& group) {
      for (const Algorithm& algorithm : algorithms())
        EXPECT_EQ(
            error_of([&] { check_all(group, std::string(algorithm.name), uneven(size, 17)); }), "");
    });
  }
}

TEST(Collectives, AreRightBetweenManyRanks) {
  for (const int size : {9, 17, 33}) {
    if (kIsSanitized && size > 9) continue;  // every rank proves its plans
    std::vector<Group> groups = in_process(size, Seconds(120));
    on_all_ranks(groups, [&](Group& group) {
      EXPECT_EQ(error_of([&] {
                  check_all(group, "direct", uneven(size, 5));
                  if (size == 9) check_all(group, "ring", uneven(size, 5));
                }),
                "");
    });
  }
}

TEST(Collectives, AreRightBetweenProcesses) {
  for (const int size : {2, 3, kIsSanitized ? 4 : 7})
    EXPECT_THAT(in_processes(size,
                             [&](Group& group) {
                               check_all(group, "direct", uneven(size, 1));
                               check_all(group, "direct", equal(size, 20'011));
                               check_all(group, "ring", uneven(size, 3001));
                             }),
                Each(IsEmpty()))
        << size << " processes";
}

template <Element T>
Tensor small_numbers(int rank, std::size_t count) {
  std::vector<T> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = T(static_cast<float>((static_cast<std::size_t>(rank) + i) % 3 + 1));
  return Tensor::of(std::span<const T>(numbers), {static_cast<std::int64_t>(count)});
}

std::vector<std::byte> bytes_of(const Tensor& tensor, std::size_t first, std::size_t count) {
  const auto bytes =
      tensor.bytes().subspan(first * size_of(tensor.dtype()), count * size_of(tensor.dtype()));
  return {bytes.begin(), bytes.end()};
}

/// Parts of 40, 0 and 61 elements, of the sum and of every other reduction.
template <Element T>
void check_type(Group& group) {
  const List extents{40, 0, 61};
  const auto at = static_cast<std::size_t>(group.rank());
  const auto first = static_cast<std::size_t>(sum_of(extents, at));
  const auto count = static_cast<std::size_t>(extents[at]);
  std::vector<Tensor> terms;
  for (int rank = 0; rank < 3; ++rank) terms.push_back(small_numbers<T>(rank, 101));
  for (const auto accumulation : {Accumulation::kWide, Accumulation::kNative})
    for (const ReduceOp op :
         {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProd}) {
      const AllReduceOptions options{.op = op, .accumulation = accumulation};
      AllReduceOptions in_parts = options;
      in_parts.extents = extents;
      const Tensor whole = group.all_reduce(terms[at], options);
      const Tensor part = group.reduce_scatter(terms[at], in_parts);
      EXPECT_EQ(part.dtype(), whole.dtype());
      EXPECT_EQ(bytes_of(part, 0, count), bytes_of(whole, first, count))
          << name(op) << " of " << name(dtype_of<T>);
      if (op == ReduceOp::kSum && accumulation == Accumulation::kWide) {
        EXPECT_EQ(bytes_of(part, 0, count), bytes_of(add_n(terms), first, count));
      }
    }
  const Tensor gathered = group.all_gather(terms[at]);
  const List sent{30, 0, 71};
  const Tensor dealt = group.all_to_all(terms[at], sent);
  EXPECT_EQ(bytes_of(gathered, 101, 101), bytes_of(terms[1], 0, 101));
  EXPECT_EQ(dealt.shape(), (Shape{3 * sent[at]}));
  EXPECT_EQ(
      bytes_of(dealt, static_cast<std::size_t>(2 * sent[at]), static_cast<std::size_t>(sent[at])),
      bytes_of(terms[2], static_cast<std::size_t>(sum_of(sent, at)),
               static_cast<std::size_t>(sent[at])));
}

TEST(Collectives, TakeEveryDtypeAndOp) {
  std::vector<Group> groups = in_process(3, Seconds(60));
  on_all_ranks(groups, [](Group& group) {
    check_type<Float16>(group);
    check_type<BFloat16>(group);
    check_type<float>(group);
    check_type<double>(group);
    check_type<std::int8_t>(group);
    check_type<std::int16_t>(group);
    check_type<std::int32_t>(group);
    check_type<std::int64_t>(group);
    check_type<std::uint8_t>(group);
    check_type<std::uint16_t>(group);
    check_type<std::uint32_t>(group);
    check_type<std::uint64_t>(group);
  });
}

/// The order of a sum belongs to its chunk, so the bits are the same where the chunks are.
TEST(ReduceScatter, HasTheBitsOfAllReduceWhereChunksAreTheSame) {
  for (const int size : {2, 3, 5, 6}) {
    std::vector<Group> groups = in_process(size, Seconds(60));
    on_all_ranks(groups, [&](Group& group) {
      for (const Algorithm& algorithm : algorithms()) {
        const int chunks =
            build_schedule(algorithm.name, {.topology = {.worker_count = size}}).chunk_count;
        const auto count = static_cast<std::size_t>(16 * std::lcm(chunks, size) * 3);
        std::vector<float> numbers(count);
        for (std::size_t i = 0; i < count; ++i)
          numbers[i] = static_cast<float>(group.rank() + 1) / (1.0F + static_cast<float>(i % 37));
        const Tensor input =
            Tensor::of(std::span<const float>(numbers), {static_cast<std::int64_t>(count)});
        const AllReduceOptions options{.algorithm = std::string(algorithm.name)};
        const std::size_t part = count / static_cast<std::size_t>(size);
        EXPECT_EQ(bytes_of(group.reduce_scatter(input, options), 0, part),
                  bytes_of(group.all_reduce(input, options),
                           part * static_cast<std::size_t>(group.rank()), part))
            << algorithm.name << " of " << size;
      }
    });
  }
}

/// All that can be started, at once.
void check_handles(Group& group) {
  const int size = group.size();
  const std::int64_t rows = 211;
  const Numbers mine = rows_of(group.rank(), 0, rows);
  const Numbers many = rows_of(group.rank(), 0, rows * size);
  Numbers reduced = blank(group.rank() == 1 ? rows : 0), part = blank(rows), shared = mine,
          all = blank(rows * size), at_root = blank(group.rank() == 0 ? rows * size : 0),
          dealt = blank(rows), swapped = blank(rows * size);
  {
    std::vector<Handle> handles;
    handles.push_back(group.start_reduce(tensor_of(mine), view_of(reduced), 1));
    handles.push_back(group.start_reduce_scatter(tensor_of(many), view_of(part), {.step = 7}));
    handles.push_back(group.start_broadcast(view_of(shared), size - 1));
    handles.push_back(group.start_all_gather(tensor_of(mine), view_of(all)));
    group.barrier({.step = 7});
    handles.push_back(group.start_gather(tensor_of(mine), view_of(at_root), 0));
    handles.push_back(group.start_scatter(tensor_of(many), view_of(dealt), 1));
    handles.push_back(group.start_all_to_all(tensor_of(many), view_of(swapped)));
    // Beside them.
    expect(group.all_gather(tensor_of(mine)).shape()[0] == rows * size, "beside handles");
    for (const Handle& handle : handles) handle.wait();
  }
  const Case each{group, "direct", equal(size, rows)};
  Numbers gathered, sum(mine.size());
  for (int rank = 0; rank < size; ++rank) {
    append(gathered, rows_of(rank, 0, rows));
    std::ranges::transform(sum, rows_of(rank, 0, rows), sum.begin(), std::plus<>());
  }
  Numbers sum_of_parts(mine.size()), from_all;
  for (int rank = 0; rank < size; ++rank) {
    const Numbers theirs = rows_of(rank, each.before(), rows);
    std::ranges::transform(sum_of_parts, theirs, sum_of_parts.begin(), std::plus<>());
    append(from_all, theirs);
  }
  expect(reduced == (group.rank() == 1 ? sum : Numbers()), "start_reduce");
  expect(part == sum_of_parts, "start_reduce_scatter");
  expect(shared == rows_of(size - 1, 0, rows), "start_broadcast");
  expect(all == gathered, "start_all_gather");
  expect(at_root == (group.rank() == 0 ? gathered : Numbers()), "start_gather");
  expect(dealt == rows_of(1, each.before(), rows), "start_scatter");
  expect(swapped == from_all, "start_all_to_all");
}

TEST(Collectives, GoOnBehindHandles) {
  std::vector<Group> groups = in_process(3, Seconds(60));
  on_all_ranks(groups, [](Group& group) {
    for (int round = 0; round < 3; ++round) EXPECT_EQ(error_of([&] { check_handles(group); }), "");
  });
}

TEST(Collectives, GoOnBehindHandlesOfProcesses) {
  EXPECT_THAT(in_processes(2, check_handles), Each(IsEmpty()));
}

TEST(Collectives, AreBoundOnce) {
  std::vector<Group> groups = in_process(1, Seconds(60));
  Group& group = groups.front();
  const Tensor input = tensor_of(rows_of(0, 0, 100));
  Numbers out = blank(100);
  const auto call_all = [&] {
    const std::uint64_t before = allocation_count();
    group.reduce_scatter(input, view_of(out));
    group.all_gather(input, view_of(out), {.extents = {100}});
    group.all_gather(input);
    group.scatter(input, view_of(out), 0);
    group.all_to_all(input, List{100});
    return allocation_count() - before;
  };
  const std::uint64_t first = call_all();
  call_all();  // the other turn
  const std::uint64_t later = call_all();
  EXPECT_LT(later, first / 2) << first;
  EXPECT_LE(later, 5 * 25U) << "some for arguments, none for plans";
}

}  // namespace
}  // namespace fanin
