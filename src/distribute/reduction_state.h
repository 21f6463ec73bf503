#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "distribute/pack_runner.h"
#include "distribute/progress.h"
#include "fanin/handle.h"
#include "fanin/reduction.h"

namespace fanin {

/// What the threads of one reduction share: those that push, the plan's, which runs the packs, and
/// those that wait.
class Reduction::State {
 public:
  /// `outputs` have been checked.
  State(PackRunner& runner, const ReductionPlan& plan, std::span<const TensorView> outputs,
        const ReductionOptions& options);

  const ReductionPlan& plan() const { return plan_; }

  void push(std::size_t tensor, Value gradient, int replica);
  void then(std::size_t tensor, Apply apply);
  Value wait(std::size_t tensor);
  void wait_for_pack(std::size_t pack);
  void finish();
  std::vector<std::size_t> applied() const;
  ReductionTimes times() const;
  void cancel(std::string_view sentence);

  /// Packs run on the thread of this object, if they may run on another than the caller's.
  void start(Progress& thread);

  /// Returns when nothing of it runs any more; whatever has not begun does not.
  void close();

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool is_over() const { return error_ || done_packs_ == plan_.packs.size(); }
  bool is_full(std::size_t pack) const { return missing_[pack] == 0; }
  void check(std::size_t tensor, const Value& gradient, int replica) const;
  void run();
  void run_pack(Lock& lock, TraceTrack* track);
  void apply_next(Lock& lock, TraceTrack* track);
  void mark_done(std::size_t pack, std::optional<IndexedSlices> sum);
  void tell_others(Lock& lock);
  void fail(std::exception_ptr error);
  /// Helps until `is_done()`; throws the step's error, or DeadlineExceeded.
  template <typename IsDone>
  void help_until(Lock& lock, IsDone is_done);
  std::string describe_missing() const;

  PackRunner& runner_;
  const ReductionPlan& plan_;
  const std::vector<TensorView> outputs_;
  const ReductionOptions options_;
  std::vector<std::vector<std::size_t>> packs_of_;  // of each tensor
  const bool has_thread_;                           // if not, callers who wait run the packs
  std::optional<Handle> thread_;                    // what it does; for close() alone

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Value> inputs_;               // [replica * tensors + tensor]
  std::vector<bool> is_pushed_;             // likewise
  std::vector<std::size_t> missing_;        // of each pack: gradients that have not come
  std::vector<std::size_t> open_packs_;     // of each tensor
  std::vector<std::optional<Value>> sums_;  // of each tensor
  std::vector<Apply> applies_;              // of each tensor
  std::deque<std::size_t> to_apply_;        // tensors whose sums are there
  std::vector<std::size_t> applied_;
  ReductionTimes times_;
  std::size_t done_packs_ = 0;
  int busy_count_ = 0;                    // threads that run a pack or apply a sum
  bool is_running_ = false;               // a pack
  std::optional<std::string> cancelled_;  // why the others have to be told
  std::exception_ptr error_;
};

}  // namespace fanin
