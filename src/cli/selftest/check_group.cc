#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "cli/selftest/checks.h"
#include "fanin/add_n.h"

namespace fanin::cli {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 7, 1000, 100'003};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax,
                             ReduceOp::kProd};

/// Small numbers whose reduction is exact in every type: 1, and at some ranks 2.
constexpr std::size_t kPeriod = 7;
int number_of(int rank, std::size_t element) {
  return (static_cast<std::size_t>(rank) + element) % kPeriod == 0 ? 2 : 1;
}

double expected_of(ReduceOp op, int size, std::size_t element) {
  int sum = 0, least = 2, most = 1;
  double product = 1;
  for (int rank = 0; rank < size; ++rank) {
    const int number = number_of(rank, element);
    sum += number;
    least = std::min(least, number);
    most = std::max(most, number);
    product *= number;
  }
  switch (op) {
    case ReduceOp::kSum:
      return sum;
    case ReduceOp::kMean:
      return static_cast<double>(sum) / size;
    case ReduceOp::kMin:
      return least;
    case ReduceOp::kMax:
      return most;
    case ReduceOp::kProd:
      return product;
  }
  return std::nan("");
}

template <Element T>
T element_from(double number) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(number));  // wraps, as the products of many do
  else
    return T(static_cast<float>(number));
}

template <>
double element_from<double>(double number) {
  return number;
}

template <Element Result>
bool is_right(const Tensor& result, ReduceOp op, int size) {
  std::vector<Result> expected(result.element_count());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] =
        i < kPeriod ? element_from<Result>(expected_of(op, size, i)) : expected[i - kPeriod];
  return same_bits(result, Tensor::of(std::span<const Result>(expected), result.shape()));
}

template <Element T>
void check_type(Group& group, Tally& tally) {
  for (const std::size_t count : kSizes) {
    std::vector<T> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = element_from<T>(number_of(group.rank(), i));
    const Tensor input =
        Tensor::of(std::span<const T>(numbers), Shape{static_cast<std::int64_t>(count)});
    for (const ReduceOp op : kOps) {
      const Tensor result = group.all_reduce(input, {.op = op});
      bool good = false;
      if (std::is_integral_v<T> && op == ReduceOp::kMean)
        good =
            is_right<std::conditional_t<sizeof(T) <= 2, float, double>>(result, op, group.size());
      else
        good = is_right<T>(result, op, group.size());
      tally.count(good, fmt::format("{} of {} {} elements", name(op), count, name(dtype_of<T>)));
    }
  }
}

/// The direct algorithm sums in the ADD_N order over the ranks, so the bits must be add_n's.
void check_bits(Group& group, Tally& tally) {
  for (const std::size_t count : kSizes) {
    std::vector<Tensor> inputs;
    inputs.reserve(static_cast<std::size_t>(group.size()));
    for (int rank = 0; rank < group.size(); ++rank) inputs.push_back(uneven_numbers(rank, count));
    const Tensor sum =
        group.all_reduce(inputs[static_cast<std::size_t>(group.rank())], {.algorithm = "direct"});
    tally.count(same_bits(sum, add_n(inputs)),
                fmt::format("bits of the sum of {} float32 elements", count));
  }
}

}  // namespace

Tally check_algorithm(Group& group, const std::string& algorithm, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>(number_of(group.rank(), i));
  const Tensor input =
      Tensor::of(std::span<const float>(numbers), Shape{static_cast<std::int64_t>(count)});
  Tally tally;
  tally.count(is_right<float>(group.all_reduce(input, {.algorithm = algorithm}), ReduceOp::kSum,
                              group.size()),
              fmt::format("sum of {} float32 elements by {}", count, algorithm));
  return tally;
}

Tally check_group(Group& group) {
  Tally tally;
  check_type<Float16>(group, tally);
  check_type<BFloat16>(group, tally);
  check_type<float>(group, tally);
  check_type<double>(group, tally);
  check_type<std::int8_t>(group, tally);
  check_type<std::int16_t>(group, tally);
  check_type<std::int32_t>(group, tally);
  check_type<std::int64_t>(group, tally);
  check_type<std::uint8_t>(group, tally);
  check_type<std::uint16_t>(group, tally);
  check_type<std::uint32_t>(group, tally);
  check_type<std::uint64_t>(group, tally);
  check_bits(group, tally);
  group.barrier();
  return tally;
}

}  // namespace fanin::cli
