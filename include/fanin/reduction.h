#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fanin/indexed_slices.h"
#include "fanin/reduction_plan.h"
#include "fanin/trace.h"
#include "fanin/variable.h"

namespace fanin {

struct ReductionOptions {
  /// For each pack, and for gradients that others still have to push. Nothing: the group's, or 5
  /// minutes.
  std::optional<std::chrono::duration<double>> timeout = std::nullopt;

  /// The caller's step number. Ranks of a group compare it.
  std::optional<std::int64_t> step = std::nullopt;

  /// Of each tensor, 0 or more, the same on all ranks; a pack has the largest of its tensors'.
  /// While a pack travels, the next one, if its priority is larger, does not wait for it: both are
  /// under way, and blocks of the second move first. Empty: none overtakes another. Packs of one
  /// process, of sparse gradients, and of several replicas in half precision never do, nor where
  /// MPI serves one thread.
  std::vector<int> priorities = {};

  /// Where packs, updates and waits are recorded: those of the plan's thread, and those of the
  /// caller's, which must then be one. Nothing: not at all.
  TraceTrack* plan_track = nullptr;
  TraceTrack* caller_track = nullptr;
  TraceTrack* overtaking_track = nullptr;  ///< of packs that overtake the one before
};

/// Where the time of a reduction has gone so far.
struct ReductionTimes {
  std::chrono::nanoseconds reducing = {};  ///< packs under way, with waits for other ranks
  std::chrono::nanoseconds applying = {};  ///< of all threads together
  std::chrono::nanoseconds waiting = {};   ///< calls that waited and had nothing to apply
};

/// A reduction whose gradients come one by one, as a backward pass makes them; Plan::start() gives
/// it. A pack starts when all its gradients have been pushed and the pack before it is done (or
/// overtaken, see ReductionOptions): so in the plan's order on every rank, whatever the order of
/// the gradients. It travels on a thread of the plan's while the caller goes on (where MPI serves
/// one thread only: inside the calls that wait).
///
///     Reduction sums = plan.start(outputs);
///     for (std::size_t i = 0; i < variables.size(); ++i) sums.update(variables[i], descend, i);
///     model.backward([&](std::size_t i, Tensor gradient) { sums.push(i, gradient); });
///     sums.finish();
///
/// The first error ends the step, here and on the other ranks: what has not been updated by then
/// stays as it was, and every call that waits throws it. applied() tells what was done; after
/// resync() all ranks are equal again.
class Reduction {
 public:
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) = delete;
  /// Waits for the pack that is under way; if others have not begun, as cancel().
  ~Reduction();

  /// Hands over the gradient of a tensor of the plan's list, of one of the replicas that this
  /// process has. Its memory must stay as it is until the sum is there; it may be the output's.
  /// Any thread. Throws InvalidArgument: kBadOption for a tensor or replica that is not there, or
  /// comes twice; kShapeMismatch, kDtypeMismatch if it is not as planned, kSparseMismatch if it is
  /// sparse and was planned dense, or the other way round. Nothing has changed then.
  void push(std::size_t tensor, Value gradient, int replica = 0);

  /// Calls `apply(sum)` once the sum of a gradient is there: on the plan's thread while it has
  /// nothing to send, on those that wait otherwise. Different tensors may be applied at once. What
  /// it throws ends the step. Throws InvalidArgument (kBadOption) if the tensor has one already.
  using Apply = std::function<void(const Value& sum)>;
  void then(std::size_t tensor, Apply apply);

  /// The same for a variable, which becomes `fn(its value, sum)` on each of its devices: as a whole
  /// or not at all.
  using UpdateFn = std::function<Tensor(const Tensor& value, const Value& sum)>;
  void update(Variable variable, UpdateFn fn, std::size_t tensor);

  /// Returns the sum of one gradient when it is there: the output's memory, or slices.
  Value wait(std::size_t tensor);

  /// Returns when all sums are there and have been applied. Throws InvalidArgument (kBadOption) if
  /// gradients have not been pushed, after which they still may be.
  void finish();

  /// Tensors whose sums have been applied, in the order in which they were.
  std::vector<std::size_t> applied() const;

  ReductionTimes times() const;

  /// Ends the step: all ranks' calls throw, with this sentence. Nothing if all packs are done.
  void cancel(std::string_view sentence);

  /// Packs as they finish: in the plan's order, but for those that overtake the one before.
  class Iterator {
   public:
    using value_type = PlannedPack;
    using difference_type = std::ptrdiff_t;

    /// Returns when so many packs are done: the last of them.
    const PlannedPack& operator*() const;
    Iterator& operator++() {
      ++number_;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& left, const Iterator& right) {
      return left.number_ == right.number_;
    }

   private:
    friend Reduction;
    Iterator(Reduction& reduction, std::size_t number) : reduction_(&reduction), number_(number) {}
    Reduction* reduction_;
    std::size_t number_;
  };
  Iterator begin() { return {*this, 0}; }
  Iterator end();

 private:
  friend class Plan;
  class State;
  explicit Reduction(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace fanin
