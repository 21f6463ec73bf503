#include "fanin/aggregation_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "aggregation/dense_sum.h"
#include "core/require.h"

namespace fanin {
namespace {

using Method = AggregationMethod;

std::size_t default_budget_bytes() {
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 4;
}

/// Sizes of the three kinds of memory, for the whole tensor.
struct Sizes {
  std::size_t terms;  // all of them
  std::size_t term;
  std::size_t partial;
  std::size_t result;
};

Sizes sizes_of(const AggregationRequest& request, const Arithmetic& arithmetic) {
  const std::size_t term = request.element_count * arithmetic.size_of(Cell::kInput);
  return {.terms = request.term_count * term,
          .term = term,
          .partial = request.element_count * arithmetic.size_of(Cell::kPartial),
          .result = request.element_count * arithmetic.size_of(Cell::kResult)};
}

AggregationCost cost_of_add_n(const Sizes& sizes) {
  return {.method = Method::kAddN,
          .held_bytes = sizes.terms + sizes.result,
          .moved_bytes = sizes.terms + sizes.result,
          .order = "by index, in groups of 8"};
}

AggregationCost cost_of_tree(const AggregationRequest& request, const Sizes& sizes) {
  AggregationCost cost = cost_of_add_n(sizes);
  cost.method = Method::kExperimentalTree;
  cost.order = "pairs of neighbours, level by level";
  if (!request.terms_arrive) return cost;
  cost.order = "pairs, by arrival";
  // The term that comes, and the sum that its pair becomes while both are held.
  const auto partials = static_cast<std::size_t>(std::bit_width(request.term_count));
  cost.held_bytes = partials * sizes.partial + sizes.term;
  // Every second term ends in a partial sum that is written and read.
  cost.moved_bytes = sizes.terms + request.term_count / 2 * 2 * sizes.partial + sizes.result;
  return cost;
}

AggregationCost cost_of_accumulate_n(const AggregationRequest& request, const Sizes& sizes) {
  AggregationCost cost = cost_of_add_n(sizes);
  cost.method = Method::kExperimentalAccumulateN;
  cost.order = "from left to right";
  if (!request.terms_arrive) return cost;
  cost.order = "by arrival";
  cost.held_bytes = sizes.partial + sizes.term;
  cost.moved_bytes = sizes.terms;
  if (request.term_count > 0) cost.moved_bytes += (2 * request.term_count - 1) * sizes.partial;
  return cost;
}

void choose_automatically(AggregationPlan& plan, const SumOptions& options) {
  const std::size_t budget = options.memory_budget_bytes.value_or(default_budget_bytes());
  const auto& [add_n, tree, accumulate_n] = std::tie(plan.costs[0], plan.costs[1], plan.costs[2]);
  const auto use = [&](const AggregationCost& cost, std::string_view fits, std::string_view why) {
    plan.method = cost.method;
    plan.reason = fmt::format("{} bytes in hand {} the budget of {}, and {}", cost.held_bytes, fits,
                              budget, why);
  };
  if (!plan.request.terms_arrive) {
    plan.method = Method::kAddN;
    plan.reason = "all terms are there, and one pass moves the fewest bytes";
  } else if (options.accumulation == Accumulation::kExact) {
    plan.method = Method::kAddN;
    plan.reason = "an exact sum needs all terms";
  } else if (add_n.held_bytes <= budget) {
    use(add_n, "fit into",
        "one pass at the end moves the fewest bytes and does not depend on who comes first");
  } else if (tree.held_bytes <= budget) {
    use(tree, "fit into", "all terms do not; errors grow with the logarithm of their number");
  } else if (accumulate_n.held_bytes <= budget) {
    use(accumulate_n, "fit into", "a tree's partial sums do not");
  } else {
    use(accumulate_n, "exceed", "no method holds less");
  }
}

}  // namespace

AggregationPlan plan_aggregation(const AggregationRequest& request, const SumOptions& options) {
  check(request.method);
  const Arithmetic arithmetic =
      arithmetic_of(options, request.dtype, std::max<std::size_t>(request.term_count, 1));
  const Sizes sizes = sizes_of(request, arithmetic);
  AggregationPlan plan{.request = request,
                       .method = request.method,
                       .reason = "asked for",
                       .note = {},
                       .kernel = describe_kernel(arithmetic),
                       .costs = {cost_of_add_n(sizes), cost_of_tree(request, sizes),
                                 cost_of_accumulate_n(request, sizes)}};
  if (options.accumulation == Accumulation::kExact && is_floating(request.dtype))
    plan.kernel = "exact accumulators, rounded once";
  if (request.method == Method::kAuto) choose_automatically(plan, options);
  if (request.is_sparse && plan.method == Method::kExperimentalAccumulateN)
    plan.note = "sparse terms, which it cannot take, go to EXPERIMENTAL_TREE";
  return plan;
}

std::string to_string(const AggregationPlan& plan) {
  std::string text = fmt::format(
      "{} terms of {} {} elements by {}: {}\n{}{}kernel: {}\n{:<26} {:>14} {:>14}  {}\n",
      plan.request.term_count, plan.request.element_count, name(plan.request.dtype),
      name(plan.method), plan.reason, plan.note, plan.note.empty() ? "" : "\n", plan.kernel,
      "method", "bytes in hand", "bytes moved", "order");
  for (const AggregationCost& cost : plan.costs)
    text += fmt::format("{}{:<25} {:>14} {:>14}  {}\n", cost.method == plan.method ? '*' : ' ',
                        name(cost.method), cost.held_bytes, cost.moved_bytes, cost.order);
  return text;
}

std::string to_json(const AggregationPlan& plan) {
  nlohmann::ordered_json json = {{"terms", plan.request.term_count},
                                 {"elements", plan.request.element_count},
                                 {"dtype", name(plan.request.dtype)},
                                 {"terms_arrive", plan.request.terms_arrive},
                                 {"sparse", plan.request.is_sparse},
                                 {"asked", name(plan.request.method)},
                                 {"method", name(plan.method)},
                                 {"reason", plan.reason},
                                 {"note", plan.note},
                                 {"kernel", plan.kernel}};
  auto costs = nlohmann::ordered_json::array();
  for (const AggregationCost& cost : plan.costs)
    costs.push_back({{"method", name(cost.method)},
                     {"held_bytes", cost.held_bytes},
                     {"moved_bytes", cost.moved_bytes},
                     {"order", cost.order}});
  json["costs"] = std::move(costs);
  return json.dump();
}

}  // namespace fanin
