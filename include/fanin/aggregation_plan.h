#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fanin/add_n.h"
#include "fanin/aggregation_method.h"

namespace fanin {

/// What is known of a sum before it is made.
struct AggregationRequest {
  std::size_t term_count = 0;
  std::size_t element_count = 0;  ///< of one term
  DType dtype = DType::kFloat32;
  AggregationMethod method = AggregationMethod::kAuto;
  bool terms_arrive = false;  ///< one after the other, and are let go of as soon as may be
  bool is_sparse = false;     ///< some terms are
};

/// What a method costs.
struct AggregationCost {
  AggregationMethod method = AggregationMethod::kAddN;
  std::size_t held_bytes = 0;   ///< most bytes in its hands at once, terms and partial sums
  std::size_t moved_bytes = 0;  ///< read and written, in all
  std::string order;            ///< in which it adds
};

/// Which method serves a request, and why. The same request gives the same plan.
struct AggregationPlan {
  AggregationRequest request;
  AggregationMethod method = AggregationMethod::kAddN;  ///< never AUTO
  std::string reason;
  std::string note;                    ///< what it cannot do as asked, if there is something
  std::string kernel;                  ///< what adds: vector instructions and type of partial sums
  std::vector<AggregationCost> costs;  ///< of each method, the chosen one among them
};

/// Chooses by count, size and `options.memory_budget_bytes`. Throws InvalidArgument (kBadMethod,
/// kBadOption).
AggregationPlan plan_aggregation(const AggregationRequest& request, const SumOptions& options = {});

/// As sentences and a small table, for people.
std::string to_string(const AggregationPlan& plan);

/// The same as a JSON object.
std::string to_json(const AggregationPlan& plan);

}  // namespace fanin
