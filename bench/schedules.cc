// Times schedules in one process. Reads lines "what algorithm ranks bytes outputs seconds" and
// answers each with a line of JSON. "all_reduce" and "literal": seconds of one call by Fanin, and
// by a hand-written single pass over the same buffers, in turns; outputs are "all" (a result for
// each rank) or "shared". "plan": seconds to build, prove, lower and bind the schedule.

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "against_limit.h"
#include "executor/memory_plan.h"
#include "fanin/algorithms.h"
#include "ones.h"
#include "serve.h"

namespace bench {
namespace {

using fanin::Lowering;
using fanin::Outputs;

struct Case {
  std::string what;
  std::string algorithm;
  int ranks = 0;
  std::size_t bytes = 0;
  std::string outputs;

  Outputs how() const { return outputs == "shared" ? Outputs::kShared : Outputs::kSeparate; }
};

/// Two levels: pairs of devices, where there are at least two pairs.
fanin::Topology topology_of(const Case& each) {
  if (each.algorithm.find('/') == std::string::npos) return {.worker_count = each.ranks};
  return {.worker_count = each.ranks / 2, .devices_per_worker = 2};
}

fanin::MemoryPlan make_plan(const Case& each) {
  const fanin::Schedule schedule =
      fanin::build_schedule(each.algorithm, {.topology = topology_of(each)});
  const fanin::Arithmetic sum = fanin::make_arithmetic(
      fanin::ReduceOp::kSum, fanin::DType::kFloat32, fanin::Accumulation::kWide, each.ranks);
  return {schedule,
          fanin::Layout({each.bytes / sizeof(float)}, schedule.chunk_count, sizeof(float)),
          sum,
          each.how(),
          fanin::Context::process(),
          each.what == "literal" ? Lowering::kLiteral : Lowering::kFused};
}

Times time_run(const Case& each, double budget_seconds) {
  const auto ranks = static_cast<std::size_t>(each.ranks);
  const Ones ones(Type::kFloat32, each.bytes, ranks, each.how() == Outputs::kShared ? 1 : ranks);
  fanin::MemoryPlan plan = make_plan(each);
  return time_in_turns(ones.sum(), budget_seconds,
                       [&] { plan.run(ones.sum().sources, ones.sum().targets); });
}

nlohmann::json answer(const Case& each, double budget_seconds) {
  if (each.what == "plan") return {{"fanin", time_call(budget_seconds, [&] { make_plan(each); })}};
  if (each.what != "all_reduce" && each.what != "literal")
    throw std::invalid_argument(
        fmt::format("\"{}\" cannot be measured; use all_reduce, literal or plan", each.what));
  // Four parts: Fanin, two ways, and the choice of these.
  return to_json(time_run(each, 4 * budget_seconds));
}

void serve() {
  Case each;
  double budget_seconds = 0;
  while (std::cin >> each.what >> each.algorithm >> each.ranks >> each.bytes >> each.outputs >>
         budget_seconds)
    std::cout << answer(each, budget_seconds) << std::endl;
}

}  // namespace
}  // namespace bench

int main() { return bench::run_server("bench_schedules", bench::serve); }
