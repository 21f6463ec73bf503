#include "distribute/host_sums.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/sanitized.h"
#include "distribute/test_groups.h"

namespace fanin {
namespace {

using namespace std::chrono_literals;
using test::on_all_ranks;
using testing::Each;

constexpr const char* kAlgorithm = "direct//recursive_doubling";
constexpr std::size_t kWindowBytes = 256 << 10;

/// Numbers whose sum has other bits in another order.
template <typename T>
std::vector<T> numbers_of(int rank, std::size_t count) {
  std::vector<T> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double number =
        std::sin(static_cast<double>(i + 1) * (rank + 1)) * std::ldexp(1, static_cast<int>(i % 9));
    numbers[i] = static_cast<T>(std::is_integral_v<T> ? number * 100 : number);
  }
  return numbers;
}

/// As the schedule says, by a process that sees all.
template <typename T>
std::vector<T> wanted(const std::vector<int>& hosts, std::size_t count, ReduceOp op) {
  const Schedule schedule = build_for_hosts(kAlgorithm, hosts, Goal::kAllReduce, std::nullopt);
  const Arithmetic arithmetic = make_arithmetic(op, dtype_of<T>, Accumulation::kWide,
                                                static_cast<std::int64_t>(hosts.size()));
  std::vector<std::vector<T>> inputs;
  std::vector<const std::byte*> from;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    inputs.push_back(numbers_of<T>(static_cast<int>(rank), count));
  for (const std::vector<T>& input : inputs) from.push_back(std::as_bytes(std::span(input)).data());
  std::vector<T> sum(count);
  std::byte* const to = std::as_writable_bytes(std::span(sum)).data();
  MemoryPlan(schedule, Layout({count}, schedule.chunk_count, sizeof(T)), arithmetic,
             Outputs::kShared, Context::process())
      .run(from, {&to, 1});
  return sum;
}

std::vector<Group> groups_on(const std::vector<int>& hosts) {
  std::vector<Group> groups;
  for (auto& transport : test::make_message_transports(hosts, kWindowBytes))
    groups.emplace_back(std::move(transport), 30s);
  return groups;
}

template <typename T>
std::vector<T> sum_of(Group& group, std::size_t count, ReduceOp op) {
  const std::vector<T> mine = numbers_of<T>(group.rank(), count);
  const Tensor input =
      Tensor::view(std::span<const T>(mine), Shape{static_cast<std::int64_t>(count)});
  return group.all_reduce(input, {.op = op, .algorithm = kAlgorithm}).template to_vector<T>();
}

template <typename T>
void expect_wanted(const std::vector<int>& hosts, std::initializer_list<ReduceOp> ops) {
  std::vector<Group> groups = groups_on(hosts);
  // The first go with the words, the last by messages.
  for (const std::size_t count : {5UL, 11UL, 500UL, 1'537UL, 3'072UL, 3'073UL})
    for (const ReduceOp op : ops) {
      const std::vector<T> sum = wanted<T>(hosts, count, op);
      std::vector<char> is_right(groups.size());
      on_all_ranks(groups, [&](Group& group) {
        is_right[static_cast<std::size_t>(group.rank())] = sum_of<T>(group, count, op) == sum;
      });
      EXPECT_THAT(is_right, Each(true)) << count << " elements, " << name(op);
    }
}

TEST(HostSums, HaveTheBitsOfTheSchedule) {
  using enum ReduceOp;
  for (const std::vector<int>& hosts :
       {std::vector<int>{0, 0, 2, 2}, {0, 1, 0, 1}, {0, 1, 1, 0, 1, 0}, {0, 0, 0, 0, 4, 4, 4, 4}}) {
    expect_wanted<float>(hosts, {kSum, kMean, kMin, kMax, kProd});
    if (kIsSanitized) continue;
    expect_wanted<double>(hosts, {kSum, kMean});
    expect_wanted<std::int32_t>(hosts, {kSum, kMax});
    expect_wanted<std::int64_t>(hosts, {kSum});
  }
}

TEST(HostSums, OfAListHaveEachTensorInItsPlace) {
  std::vector<Group> groups = groups_on({0, 0, 2, 2});
  std::vector<std::vector<float>> seen(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    const auto value = static_cast<float>(group.rank() + 1);
    const std::vector<Tensor> inputs{test::filled<float>(3, value), test::filled<float>(0, value),
                                     test::filled<float>(100, 10 * value)};
    std::vector<float>& out = seen[static_cast<std::size_t>(group.rank())];
    out.resize(103);
    const std::span<float> all = out;
    const std::vector<TensorView> views{TensorView::over(all.first(3), Shape{3}),
                                        TensorView::over(all.first(0), Shape{0}),
                                        TensorView::over(all.subspan(3), Shape{100})};
    group.all_reduce(inputs, views);
  });
  std::vector<float> right(103, 100);
  std::fill_n(right.begin(), 3, 10.0F);
  EXPECT_THAT(seen, Each(right));
}

TEST(HostSums, OfASubgroupGoByItsOrder) {
  std::vector<Group> groups = groups_on({0, 0, 2, 2});
  const std::vector<float> sum = wanted<float>({0, 1, 0, 1}, 500, ReduceOp::kSum);
  std::vector<char> is_right(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    std::optional<Group> turned = group.subgroup(std::vector<int>{3, 0, 2, 1});
    is_right[static_cast<std::size_t>(group.rank())] =
        sum_of<float>(*turned, 500, ReduceOp::kSum) == sum;
    group.barrier();
  });
  EXPECT_THAT(is_right, Each(true));
}

// While one thread says something, that of a handle may relay what it hears.
TEST(HostSums, AreRightBesideHandles) {
  const std::vector<int> hosts{0, 0, 2, 2};
  const std::vector<float> sum = wanted<float>(hosts, 100, ReduceOp::kSum);
  for (int round = 0; round < (kIsSanitized ? 10 : 100); ++round) {
    std::vector<Group> groups = groups_on(hosts);
    std::vector<int> wrong(groups.size());
    on_all_ranks(groups, [&](Group& group) {
      const std::vector<float> mine = numbers_of<float>(group.rank(), 100);
      const Tensor input = test::tensor_over(mine);
      for (int call = 0; call < 4; ++call) {
        std::vector<float> out(100);
        const TensorView view = TensorView::over(std::span<float>(out), Shape{100});
        const Handle handle =
            group.start_all_reduce({&input, 1}, {&view, 1}, {.algorithm = kAlgorithm});
        const bool is_right = sum_of<float>(group, 100, ReduceOp::kSum) == sum;
        handle.wait();
        if (!is_right || out != sum) ++wrong[static_cast<std::size_t>(group.rank())];
      }
    });
    ASSERT_THAT(wrong, Each(0)) << "round " << round;
  }
}

// Then some of what is needed comes without the help of others, and some does not.
TEST(HostSums, AreRightWhoeverIsLate) {
  const std::vector<int> hosts{0, 0, 2, 2};
  const std::vector<float> sum = wanted<float>(hosts, 500, ReduceOp::kSum);
  std::vector<Group> groups = groups_on(hosts);
  std::vector<int> wrong(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    for (int round = 0; round < 24; ++round) {
      const int late = round % 6;
      if (late == group.rank() || (late == 5 && group.rank() % 2 == 1))
        std::this_thread::sleep_for(5ms);
      if (sum_of<float>(group, 500, ReduceOp::kSum) != sum)
        ++wrong[static_cast<std::size_t>(group.rank())];
    }
  });
  EXPECT_THAT(wrong, Each(0));
}

TEST(HostSums, AreNotPutTogetherIfTheOtherHostSentAll) {
  const Request request{.operation = Request::Operation::kAllReduce,
                        .algorithm = kAlgorithm,
                        .items = {{.dtype = DType::kFloat32, .shape = Shape{2}}}};
  const Arithmetic arithmetic =
      make_arithmetic(request.op, DType::kFloat32, request.accumulation, 4);
  auto transports = test::make_message_transports({0, 0, 2, 2}, kWindowBytes);
  std::vector<char> is_done(transports.size());
  std::vector<std::jthread> threads;
  for (auto& transport : transports)
    threads.emplace_back([&] {
      const int rank = transport->rank();
      Lane lane(std::move(transport));
      ScheduleBook book;
      HostSums sums(request, arithmetic, lane.transport(), {2}, book, Context::process());
      const Ticket ticket{.epoch = 0, .number = 1};
      Call call;
      lane.begin(ticket, call);
      lane.enter(ticket, {.attached = lane.transport().window(rank).first(8)}, call);
      const std::vector<const std::byte*> terms(4);
      is_done[static_cast<std::size_t>(rank)] = sums.run(lane, ticket, 0, terms, {});
      lane.transport().publish(Transport::kHeardFlag, 1);  // nobody leaves before
      for (int peer = 0; peer < 4; ++peer)
        lane.transport().wait(peer, Transport::kHeardFlag, 1, call);
    });
  threads.clear();
  EXPECT_THAT(is_done, Each(false));
}

TEST(HostSums, OfRanksThatDifferAreAnErrorOfAll) {
  std::vector<Group> groups = groups_on({0, 0, 2, 2});
  std::vector<std::string> errors(groups.size());
  on_all_ranks(groups, [&](Group& group) {
    const std::size_t count = group.rank() == 3 ? 501 : 500;
    errors[static_cast<std::size_t>(group.rank())] =
        test::error_of([&] { sum_of<float>(group, count, ReduceOp::kSum); });
  });
  EXPECT_THAT(errors, Each(testing::HasSubstr("rank 3 has [501]")));
}

TEST(HostSums, FitWhereTheBitsAre) {
  const auto fit = [](const std::vector<int>& hosts, DType dtype, const std::string& algorithm,
                      ReduceOp op = ReduceOp::kSum) {
    const Request request{.operation = Request::Operation::kAllReduce,
                          .op = op,
                          .algorithm = algorithm,
                          .items = {{.dtype = dtype, .shape = Shape{100}}}};
    const auto transports = test::make_message_transports(hosts, kWindowBytes);
    const auto size = static_cast<std::int64_t>(hosts.size());
    return HostSums::fit(request, make_arithmetic(op, dtype, request.accumulation, size),
                         *transports.back());
  };
  const std::vector<int> two{0, 0, 2, 2};
  EXPECT_TRUE(fit(two, DType::kFloat32, kAlgorithm));
  EXPECT_TRUE(fit(two, DType::kFloat32, kAlgorithm, ReduceOp::kMean));
  EXPECT_FALSE(fit(two, DType::kBFloat16, kAlgorithm)) << "sums on the way are wider";
  EXPECT_FALSE(fit(two, DType::kInt64, kAlgorithm, ReduceOp::kMean)) << "likewise";
  EXPECT_FALSE(fit(two, DType::kFloat32, "direct")) << "sums in the order of ranks";
  EXPECT_FALSE(fit({0, 0, 2, 2, 4, 4}, DType::kFloat32, kAlgorithm)) << "three hosts";
  EXPECT_FALSE(fit({0, 0, 2}, DType::kFloat32, kAlgorithm)) << "hosts of different size";
  EXPECT_FALSE(fit({0, 1}, DType::kFloat32, kAlgorithm)) << "nothing to sum";
  EXPECT_FALSE(fit({0, 0, 0}, DType::kFloat32, kAlgorithm)) << "one host";
}

}  // namespace
}  // namespace fanin
