#pragma once

// Every collective in which ranks have parts of the data, called and checked, for tests.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "distribute/test_groups.h"

namespace fanin::test {

using List = std::vector<std::int64_t>;
using Numbers = std::vector<std::int32_t>;

inline constexpr std::int64_t kWidth = 3;

inline std::int64_t sum_of(const List& list, std::size_t count) {
  return std::accumulate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
                         std::int64_t{0});
}
inline std::int64_t sum_of(const List& list) { return sum_of(list, list.size()); }

/// Rows of a rank's data, with numbers that tell ranks and places apart.
inline Numbers rows_of(int rank, std::int64_t first, std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count * kWidth));
  std::iota(numbers.begin(), numbers.end(), static_cast<int>(rank * 100'003 + first * kWidth));
  return numbers;
}

inline Tensor tensor_of(const Numbers& numbers) {
  return Tensor::of(std::span<const std::int32_t>(numbers),
                    {static_cast<std::int64_t>(numbers.size()) / kWidth, kWidth});
}

inline TensorView view_of(Numbers& numbers) {
  return TensorView::over(std::span(numbers),
                          {static_cast<std::int64_t>(numbers.size()) / kWidth, kWidth});
}

inline Tensor input_over(std::span<const std::int32_t> numbers) {
  return Tensor::view(numbers, {static_cast<std::int64_t>(numbers.size()) / kWidth, kWidth});
}

inline Numbers blank(std::int64_t rows) {
  Numbers numbers(static_cast<std::size_t>(rows * kWidth));
  std::ranges::fill(numbers, -1);
  return numbers;
}

inline void append(Numbers& to, const Numbers& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// One call with all that it needs: who, how, and how many rows the part of each rank has.
struct Case {
  Group& group;
  std::string algorithm;
  List extents;

  int rank() const { return group.rank(); }
  int size() const { return group.size(); }
  std::size_t at() const { return static_cast<std::size_t>(group.rank()); }
  std::int64_t own() const { return extents[at()]; }
  std::int64_t before() const { return sum_of(extents, at()); }
  std::int64_t total() const { return sum_of(extents); }

  /// Equal parts need not be said.
  List given() const {
    const bool are_equal = std::ranges::all_of(extents, [&](auto rows) { return rows == own(); });
    return are_equal ? List{} : extents;
  }
  MoveOptions moving() const { return {.algorithm = algorithm, .extents = given()}; }
  AllReduceOptions summing() const { return {.algorithm = algorithm, .extents = given()}; }
  std::string text() const {
    return fmt::format(" by {}, {} ranks, own {} of {}", algorithm, size(), own(), total());
  }
};

inline void check_reduce_scatter(const Case& each) {
  Numbers mine = rows_of(each.rank(), 0, each.total());
  Numbers wanted = blank(each.own());
  std::ranges::fill(wanted, 0);
  for (int rank = 0; rank < each.size(); ++rank)
    std::ranges::transform(wanted, rows_of(rank, each.before(), each.own()), wanted.begin(),
                           std::plus<>());
  Numbers out = blank(each.own());
  each.group.reduce_scatter(tensor_of(mine), view_of(out), each.summing());
  expect(out == wanted, "reduce_scatter" + each.text());
  const Tensor result = each.group.reduce_scatter(tensor_of(mine), each.summing());
  expect(result.to_vector<std::int32_t>() == wanted, "reduce_scatter to a tensor" + each.text());
  expect(result.shape() == Shape{each.own(), kWidth}, "the result's shape");

  // In place.
  const std::span<std::int32_t> part =
      std::span(mine).subspan(static_cast<std::size_t>(each.before() * kWidth), wanted.size());
  each.group.reduce_scatter(input_over(mine), TensorView::over(part, {each.own(), kWidth}),
                            each.summing());
  expect(std::ranges::equal(part, wanted), "reduce_scatter in place" + each.text());
}

inline void check_all_gather(const Case& each) {
  const Numbers mine = rows_of(each.rank(), 0, each.own());
  Numbers wanted;
  for (int rank = 0; rank < each.size(); ++rank)
    append(wanted, rows_of(rank, 0, each.extents[static_cast<std::size_t>(rank)]));
  Numbers out = blank(each.total());
  each.group.all_gather(tensor_of(mine), view_of(out), each.moving());
  expect(out == wanted, "all_gather" + each.text());
  const Tensor found = each.group.all_gather(tensor_of(mine), {.algorithm = each.algorithm});
  expect(found.to_vector<std::int32_t>() == wanted, "all_gather to a tensor" + each.text());

  // In place.
  out = blank(each.total());
  const std::span<std::int32_t> part =
      std::span(out).subspan(static_cast<std::size_t>(each.before() * kWidth), mine.size());
  std::ranges::copy(mine, part.begin());
  each.group.all_gather(input_over(part), view_of(out), each.moving());
  expect(out == wanted, "all_gather in place" + each.text());

  for (const int root : {0, each.size() - 1}) {
    const bool is_root = each.rank() == root;
    out = blank(is_root ? each.total() : 0);
    each.group.gather(tensor_of(mine), is_root ? view_of(out) : TensorView{}, root, each.moving());
    expect(out == (is_root ? wanted : Numbers()), "gather" + each.text());
    const auto all = each.group.gather(tensor_of(mine), root, {.algorithm = each.algorithm});
    expect(all.has_value() == is_root, "who gets something");
    expect(!is_root || all->to_vector<std::int32_t>() == wanted,
           "gather to a tensor" + each.text());
  }
}

inline void check_scatter(const Case& each) {
  for (const int root : {0, each.size() - 1}) {
    Numbers all = rows_of(root, 0, each.total());
    const Numbers wanted = rows_of(root, each.before(), each.own());
    const Tensor input = each.rank() == root ? input_over(all) : Tensor();
    Numbers out = blank(each.own());
    each.group.scatter(input, view_of(out), root, each.moving());
    expect(out == wanted, "scatter" + each.text());
    if (each.rank() == root)  // in place
      each.group.scatter(
          input,
          TensorView::over(std::span(all).subspan(static_cast<std::size_t>(each.before() * kWidth),
                                                  wanted.size()),
                           {each.own(), kWidth}),
          root, each.moving());
    else
      each.group.scatter(input, view_of(out), root, each.moving());
    expect(out == wanted && all == rows_of(root, 0, each.total()), "scatter in place");
  }
}

/// Rank s sends the extent number s + r to rank r.
inline void check_all_to_all(const Case& each) {
  const auto sent = [&](int from, int to) {
    return each.extents[static_cast<std::size_t>((from + to) % each.size())];
  };
  List mine;
  Numbers wanted;
  for (int rank = 0; rank < each.size(); ++rank) {
    mine.push_back(sent(each.rank(), rank));
    std::int64_t before = 0;
    for (int to = 0; to < each.rank(); ++to) before += sent(rank, to);
    append(wanted, rows_of(rank, before, sent(rank, each.rank())));
  }
  const Tensor input = tensor_of(rows_of(each.rank(), 0, each.total()));
  const MoveOptions options{.algorithm = each.algorithm};
  expect(each.group.all_to_all(input, mine, options).to_vector<std::int32_t>() == wanted,
         "all_to_all of given parts" + each.text());
  if (!each.given().empty()) return;
  Numbers out = blank(each.total());
  each.group.all_to_all(input, view_of(out), options);
  expect(out == wanted, "all_to_all" + each.text());
  expect(each.group.all_to_all(input, List{}, options).to_vector<std::int32_t>() == wanted,
         "all_to_all to a tensor" + each.text());
}

inline void check_all(Group& group, const std::string& algorithm, const List& extents) {
  const Case each{group, algorithm, extents};
  check_reduce_scatter(each);
  check_all_gather(each);
  check_scatter(each);
  check_all_to_all(each);
}

inline List equal(int size, std::int64_t rows) {
  return List(static_cast<std::size_t>(size), rows);
}

/// Some have none: 3, 0, 2, 4, 1, 3 and so on.
inline List uneven(int size, std::int64_t factor) {
  List extents;
  for (int rank = 0; rank < size; ++rank) extents.push_back((rank * 7 + 3) % 5 * factor);
  return extents;
}

/// The last rank has all.
inline List lopsided(int size, std::int64_t rows) {
  List extents = equal(size, 0);
  extents.back() = rows;
  return extents;
}

}  // namespace fanin::test
