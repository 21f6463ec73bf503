// All-reduces of private memory between processes, which go by slots, by pads, by windows or are
// fetched, whichever was the fastest: so many that all are tried.

#include <gmock/gmock.h>
#include <sched.h>

#include <random>

#include "distribute/host_levels.h"
#include "distribute/test_groups.h"
#include "executor/test_data.h"

namespace fanin {
namespace {

using namespace std::chrono_literals;
using test::expect;
using testing::Each;
using testing::IsEmpty;

constexpr int kCalls = 8;

std::vector<float> numbers_of(int rank, std::size_t count, unsigned seed) {
  std::minstd_rand random(seed * 100 + static_cast<unsigned>(rank) + 1);
  std::uniform_real_distribution<float> real(-1000, 1000);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = real(random);
  return numbers;
}

/// The sum in the order of `direct`: that of the ranks.
std::vector<float> sum_of(int size, std::size_t count, unsigned seed) {
  std::vector<float> sum = numbers_of(0, count, seed);
  for (int rank = 1; rank < size; ++rank) {
    const std::vector<float> more = numbers_of(rank, count, seed);
    for (std::size_t i = 0; i < count; ++i) sum[i] += more[i];
  }
  return sum;
}

void check(Group& group, std::span<const std::size_t> counts, bool in_place) {
  for (unsigned call = 0; call < kCalls; ++call) {
    std::vector<std::vector<float>> rows;
    std::vector<std::vector<float>> results;
    std::vector<Tensor> inputs;
    std::vector<TensorView> outputs;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      rows.push_back(numbers_of(group.rank(), counts[i], call + 10 * static_cast<unsigned>(i)));
      results.emplace_back(counts[i]);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Shape shape{static_cast<std::int64_t>(counts[i])};
      inputs.push_back(Tensor::view(std::span<const float>(rows[i]), shape));
      outputs.push_back(TensorView::over(std::span<float>(in_place ? rows[i] : results[i]), shape));
    }
    group.all_reduce(inputs, outputs);
    for (std::size_t i = 0; i < counts.size(); ++i)
      expect(test::are_same(in_place ? rows[i] : results[i],
                            sum_of(group.size(), counts[i], call + 10 * static_cast<unsigned>(i))),
             fmt::format("call {}: another sum of tensor {}", call, i));
  }
}

TEST(Unseen, GivesTheSameBitsByAllWays) {
  const std::vector<std::size_t> one = {100'003};
  const std::vector<std::size_t> many = {70'000, 1, 0, 333, 40'000};
  for (const int size : {2, 3, 5})
    for (const bool in_place : {true, false})
      EXPECT_THAT(test::in_processes(size,
                                     [&](Group& group) {
                                       check(group, one, in_place);
                                       check(group, many, in_place);
                                     }),
                  Each(IsEmpty()));
}

/// Ranks that stay on cores, two on each: what is chosen for them goes from core to core.
TEST(Unseen, GoesFromCoreToCoreWhereRanksShareThem) {
  cpu_set_t usable;
  ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
  std::vector<std::size_t> cores;
  for (std::size_t core = 0; core < CPU_SETSIZE && cores.size() < 2; ++core)
    if (CPU_ISSET(core, &usable)) cores.push_back(core);
  constexpr std::size_t kCount = 400'000;
  constexpr int kSize = 4;
  std::vector<std::vector<float>> rows;
  for (int rank = 0; rank < kSize; ++rank) rows.push_back(numbers_of(rank, kCount, 1));
  const test::Folder folder;
  std::vector<test::Child> ranks;
  for (int rank = 0; rank < kSize; ++rank)
    ranks.emplace_back([&, rank] {
      cpu_set_t mine;
      CPU_ZERO(&mine);
      CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &mine);
      expect(::sched_setaffinity(0, sizeof mine, &mine) == 0, "sched_setaffinity");
      Group group(join_shared_memory(folder.socket(), rank, kSize, 1 << 20, Clock::now() + 30s),
                  30s);
      if (cores.size() == 2) expect(group.cores() == std::vector{0, 1, 0, 1}, "other cores");
      group.barrier();
      const Schedule schedule =
          build_for_hosts("relay", group.cores(), Goal::kAllReduce, std::nullopt);
      const Layout layout({kCount}, schedule.chunk_count, sizeof(float));
      const std::vector<float> wanted = evaluate(schedule, 0, rows, layout);
      for (int call = 0; call < kCalls; ++call) {
        const std::vector<float> sum =
            group
                .all_reduce(
                    Tensor::view(std::span<const float>(rows[static_cast<std::size_t>(rank)]),
                                 Shape{std::int64_t{kCount}}))
                .to_vector<float>();
        expect(test::are_same(sum, wanted), fmt::format("call {}: another order", call));
      }
    });
  for (test::Child& rank : ranks) EXPECT_EQ(rank.outcome(), "");
}

/// Two ranks trade slots, the same for all sizes, while other calls come between.
TEST(Unseen, SlotsThatAreTradedHoldWhatTheirRanksPutThere) {
  EXPECT_THAT(test::in_processes(
                  2,
                  [&](Group& group) {
                    const Buffer registered = group.allocate(60'000);
                    const std::span room(reinterpret_cast<float*>(registered.bytes().data()),
                                         registered.size() / sizeof(float));
                    for (unsigned call = 0; call < 60; ++call) {
                      const std::size_t count = std::array{5'000, 1'111, 15'000, 600}[call % 4];
                      std::vector<float> mine = numbers_of(group.rank(), count, call);
                      // Now and then one has memory that all see; sometimes both.
                      const bool is_seen = call % 7 == 3 + static_cast<unsigned>(group.rank()) % 2;
                      std::span<float> numbers = mine;
                      if (is_seen || call % 11 == 5) {
                        std::ranges::copy(mine, room.begin());
                        numbers = room.first(count);
                      }
                      const Shape shape{static_cast<std::int64_t>(count)};
                      group.all_reduce(Tensor::view(std::span<const float>(numbers), shape),
                                       TensorView::over(numbers, shape));
                      expect(test::are_same(numbers, sum_of(2, count, call)),
                             fmt::format("call {}: another sum", call));
                      if (call % 5 == 0) group.barrier();
                      if (call % 13 == 6)  // refused by both, at the same operation
                        expect(!test::error_of([&] {
                                  group.all_reduce(test::filled(2'000 + group.rank(), 1.0F));
                                }).empty(),
                               "different shapes were summed");
                    }
                  }),
              Each(IsEmpty()));
}

TEST(Unseen, WorksForOtherTypesAndForHandles) {
  constexpr std::size_t kCount = 200'001;
  const auto outcomes = test::in_processes(3, [&](Group& group) {
    for (int call = 0; call < kCalls; ++call) {
      const Tensor input = test::filled(kCount, static_cast<std::int32_t>(call + 3 * group.rank()));
      std::vector<double> mean(kCount);
      const TensorView to = TensorView::over(std::span<double>(mean), input.shape());
      Handle handle = group.start_all_reduce({&input, 1}, {&to, 1}, {.op = ReduceOp::kMean});
      const Tensor other = test::filled(kCount, 1.0F);
      std::vector<float> sum(kCount);
      group.all_reduce(other, TensorView::over(std::span<float>(sum), Shape{std::int64_t{kCount}}));
      handle.wait();
      expect(mean == std::vector<double>(kCount, call + 3), "another mean");
      expect(sum == std::vector<float>(kCount, 3), "another sum");
    }
  });
  EXPECT_THAT(outcomes, Each(IsEmpty()));
}

TEST(Unseen, OperationsThatAreUnderWayAtOnceKeepApart) {
  constexpr std::size_t kCount = 300'001;
  const Shape shape{std::int64_t{kCount}};
  const auto outcomes = test::in_processes(2, [&](Group& group) {
    for (int call = 0; call < kCalls; ++call) {
      const Tensor one = test::filled(kCount, static_cast<float>(call + group.rank()));
      const Tensor other = test::filled(kCount, static_cast<float>(100 + group.rank()));
      std::vector<float> sum_of_one(kCount);
      std::vector<float> sum_of_other(kCount);
      const TensorView to = TensorView::over(std::span<float>(sum_of_one), shape);
      Handle handle = group.start_all_reduce({&one, 1}, {&to, 1});
      group.all_reduce(other, TensorView::over(std::span<float>(sum_of_other), shape));
      handle.wait();
      expect(sum_of_one == std::vector<float>(kCount, static_cast<float>(2 * call + 1)), "one");
      expect(sum_of_other == std::vector<float>(kCount, 201), "the other");
    }
  });
  EXPECT_THAT(outcomes, Each(IsEmpty()));
}

}  // namespace
}  // namespace fanin
