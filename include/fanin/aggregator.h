#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "fanin/add_n.h"
#include "fanin/aggregation_plan.h"

namespace fanin {

/// What an Aggregator has done so far.
struct AggregationRecord {
  AggregationMethod method = AggregationMethod::kAuto;  ///< AUTO until the first term tells
  std::size_t pushed_count = 0;
  std::size_t pushed_bytes = 0;
  std::size_t moved_bytes = 0;  ///< read and written by sums
  std::size_t held_bytes = 0;   ///< terms and partial sums in its hands now
  std::size_t peak_bytes = 0;   ///< the most that held_bytes has been
  std::size_t partial_count = 0;
  std::size_t peak_partial_count = 0;       ///< between pushes
  std::chrono::nanoseconds busy_time = {};  ///< in push() and finish(), of all threads together
};

/// Sums terms as they arrive, from any number of threads, and lets go of each as soon as its method
/// may:
/// - ADD_N holds all of them and sums by index in finish();
/// - TREE adds pairs in the order of arrival: at most floor(log2 n) + 1 partial sums wait;
/// - ACCUMULATE_N adds in the order of arrival into one buffer, of which several threads fill
///   different parts at a time; sparse terms, which it cannot take, go to TREE;
/// - AUTO chooses when the first term comes.
/// So bits follow the order of arrival, except for ADD_N. A call that throws InvalidArgument has
/// changed nothing: the term may be mended and pushed again.
///
///     fanin::Aggregator sum(8, fanin::AggregationMethod::kExperimentalTree);
///     for (...) sum.push(gradient);           // from any thread
///     fanin::Value total = *sum.finish();
class Aggregator {
 public:
  /// Throws InvalidArgument: kBadMethod; kBadOption if `term_count` is negative, or if an exact sum
  /// is asked for from a method that does not hold all terms.
  explicit Aggregator(int term_count, AggregationMethod method = AggregationMethod::kAuto,
                      const SumOptions& options = {});
  ~Aggregator();
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;

  /// Adds the next term; nothing counts, and is dropped. Returns when the method needs the caller's
  /// thread no longer. Throws InvalidArgument: kBadOption if there are more terms than announced,
  /// or after finish(); and as add_n() for a term that does not fit to those before.
  void push(std::optional<Value> term);

  /// The same for term `index`, of which each comes once (kBadOption): ADD_N sums by it. Either all
  /// terms of an aggregator are pushed by index or none; without it, the order of arrival counts.
  void push(int index, std::optional<Value> term);

  /// Waits for the pushes that have begun, and gives the sum, or nothing if all terms were missing.
  /// Throws InvalidArgument (kBadOption) if terms have not been pushed (after which they still may
  /// be), or if it has been called before.
  std::optional<Value> finish();

  /// Which method adds, and why, and what the others would cost. Sizes count, so this throws
  /// InvalidArgument (kBadOption) before the first term.
  AggregationPlan explain() const;

  AggregationRecord record() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fanin
