// All-reduce on whatever group this process was launched in, checked against sums that are exact in
// every type, and against add_n for the bits.

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "fanin/add_n.h"
#include "fanin/group.h"

namespace fanin::cli {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 7, 1000, 100'003};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMin, ReduceOp::kMax,
                             ReduceOp::kProd};

struct Tally {
  int right = 0;
  std::vector<std::string> wrong;

  void count(bool good, const std::string& what) {
    if (good)
      ++right;
    else
      wrong.push_back(what);
  }
};

/// Small numbers whose reduction is exact in every type: 1, and at some ranks 2.
int number_of(int rank, std::size_t element) {
  return (static_cast<std::size_t>(rank) + element) % 7 == 0 ? 2 : 1;
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

template <Element T>
bool same_bits(const std::vector<T>& left, const std::vector<T>& right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0);
}

template <Element T, Element Result>
bool is_right(const Tensor& result, ReduceOp op, int size) {
  std::vector<Result> expected(result.element_count());
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = element_from<Result>(expected_of(op, size, i));
  return result.dtype() == dtype_of<Result> && same_bits(result.to_vector<Result>(), expected);
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
      if constexpr (!std::is_integral_v<T>)
        good = is_right<T, T>(result, op, group.size());
      else if (op != ReduceOp::kMean)
        good = is_right<T, T>(result, op, group.size());
      else if constexpr (sizeof(T) <= 2)
        good = is_right<T, float>(result, op, group.size());
      else
        good = is_right<T, double>(result, op, group.size());
      tally.count(good, fmt::format("{} of {} {} elements", name(op), count, name(dtype_of<T>)));
    }
  }
}

/// Numbers of very different sizes: another order of summing would give other bits.
Tensor uneven_numbers(int rank, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = std::ldexp(std::sin(static_cast<float>(i + 1) * static_cast<float>(rank + 1)),
                            static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 5) % 24));
  return Tensor::of(std::span<const float>(numbers), Shape{static_cast<std::int64_t>(count)});
}

/// The direct algorithm sums in the ADD_N order over the ranks, so the bits must be add_n's.
void check_bits(Group& group, Tally& tally) {
  for (const std::size_t count : kSizes) {
    std::vector<Tensor> inputs;
    for (int rank = 0; rank < group.size(); ++rank) inputs.push_back(uneven_numbers(rank, count));
    const Tensor sum = group.all_reduce(inputs[static_cast<std::size_t>(group.rank())]);
    tally.count(same_bits(sum.to_vector<float>(), add_n(inputs).to_vector<float>()),
                fmt::format("bits of the sum of {} float32 elements", count));
  }
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

/// Not launched by anybody: threads of this process take the part of the ranks.
Tally check_threads(int rank_count) {
  std::vector<Group> groups = in_process(rank_count);
  std::vector<Tally> tallies(groups.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < groups.size(); ++i)
      threads.emplace_back([&, i] { tallies[i] = check_group(groups[i]); });
  }
  for (std::size_t i = 1; i < tallies.size(); ++i) {
    tallies[0].right += tallies[i].right;
    for (auto& what : tallies[i].wrong) tallies[0].wrong.push_back(std::move(what));
  }
  return std::move(tallies[0]);
}

void report(const Tally& tally, int size, std::string_view transport, double seconds,
            bool as_json) {
  if (as_json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"ranks", size},
                                              {"transport", transport},
                                              {"right", tally.right},
                                              {"wrong", tally.wrong},
                                              {"seconds", seconds}}
                           .dump());
    return;
  }
  fmt::print(
      "selftest: {} {} by {}: {} all-reduces right, {} wrong ({} dtypes, {} ops, {} sizes), {:.2f} "
      "s\n",
      size, size == 1 ? "rank" : "ranks", transport, tally.right, tally.wrong.size(), kDTypeCount,
      std::size(kOps), std::size(kSizes), seconds);
}

}  // namespace

void add_selftest(CLI::App& app, ExitCode& exit_code) {
  auto as_json = std::make_shared<bool>(false);
  auto threads = std::make_shared<int>(0);
  CLI::App* command = app.add_subcommand(
      "selftest", "All-reduce every dtype, op and several sizes, and check the results");
  command->add_flag("--json", *as_json, "One JSON object for scripts");
  command
      ->add_option("--threads", *threads,
                   "Without a launcher: as many ranks as threads of this process")
      ->check(CLI::Range(1, 256));
  command->footer("Example: fanin launch -n 4 -- fanin selftest");
  command->callback([as_json, threads, &exit_code] {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    Tally tally;
    if (*threads > 0) {
      tally = check_threads(*threads);
      report(tally, *threads, "in-process", seconds(), *as_json);
    } else {
      Group group = join(JoinOptions::from_environment());
      tally = check_group(group);
      if (group.rank() == 0) report(tally, group.size(), group.transport(), seconds(), *as_json);
      for (const std::string& what : tally.wrong)
        fmt::print(stderr, "fanin: rank {}: wrong: {}\n", group.rank(), what);
    }
    if (!tally.wrong.empty()) exit_code = ExitCode::kFailed;
  });
}

}  // namespace fanin::cli
