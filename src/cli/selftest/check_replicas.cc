#include <fmt/core.h>

#include "cli/selftest/checks.h"
#include "executor/memory_plan.h"
#include "fanin/add_n.h"
#include "fanin/algorithms.h"

namespace fanin::cli {
namespace {

constexpr std::size_t kReplicaSizes[] = {0, 1, 1000, 300'007};

/// Their sum is exact, so the same in the order of every algorithm.
Tensor whole_numbers(int rank, std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 13) % 1000) - 500;
  return Tensor::of<float>(numbers, {static_cast<std::int64_t>(count)});
}

}  // namespace

Tally check_replicas(int rank_count) {
  Tally tally;
  for (const Algorithm& algorithm : algorithms()) {
    const Schedule schedule =
        build_schedule(algorithm.name, {.topology = {.devices_per_worker = rank_count}});
    const Arithmetic arithmetic =
        make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, rank_count);
    for (const std::size_t count : kReplicaSizes) {
      std::vector<Tensor> inputs;
      std::vector<std::vector<float>> results(static_cast<std::size_t>(rank_count),
                                              std::vector<float>(count));
      std::vector<const std::byte*> from;
      std::vector<std::byte*> to;
      for (int rank = 0; rank < rank_count; ++rank) {
        inputs.push_back(whole_numbers(rank, count));
        from.push_back(inputs.back().bytes().data());
        to.push_back(reinterpret_cast<std::byte*>(results[static_cast<std::size_t>(rank)].data()));
      }
      MemoryPlan plan(schedule, Layout({count}, schedule.chunk_count, sizeof(float)), arithmetic,
                      Outputs::kSeparate, Context::process());
      plan.run(from, to);
      const std::vector<float> expected = add_n(inputs).to_vector<float>();
      for (int rank = 0; rank < rank_count; ++rank)
        tally.count(results[static_cast<std::size_t>(rank)] == expected,
                    fmt::format("{}: {} elements at replica {} of {}", algorithm.name, count, rank,
                                rank_count));
    }
  }
  return tally;
}

}  // namespace fanin::cli
