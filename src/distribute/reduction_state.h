#pragma once

#include <atomic>
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
  /// The pack that finishes after so many others.
  const PlannedPack& wait_for_finished(std::size_t number);
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

  /// A pack that was started and goes on by itself.
  struct Flight {
    std::size_t pack;
    Handle handle;
    TraceTrack* track;
    TraceClock::time_point begin;
    bool is_done = false;
  };

  bool is_over() const { return error_ || finished_.size() == plan_.packs.size(); }
  bool next_is_full() const {
    return begun_count_ < plan_.packs.size() && missing_[begun_count_] == 0;
  }
  bool overtakes(std::size_t pack) const;
  bool may_begin_next() const;
  void check(std::size_t tensor, const Value& gradient, int replica) const;
  void run();
  void run_pack(Lock& lock, TraceTrack* track);
  void launch(Lock& lock);
  bool has_landed() const;
  void land(Lock& lock);
  void finish(std::size_t pack, std::optional<IndexedSlices> sum, std::exception_ptr error);
  void apply_next(Lock& lock, TraceTrack* track);
  void mark_done(std::size_t pack, std::optional<IndexedSlices> sum);
  void tell_others(Lock& lock);
  void fail(std::exception_ptr error);
  void notify();
  void rest(Lock& lock);
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
  PackStarter* const starter_;                      // null: packs cannot overtake others
  std::vector<int> priorities_;                     // of each pack
  std::optional<Handle> thread_;                    // what it does; for close() alone

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> change_count_ = 0;  // with the lock; read without
  std::vector<Value> inputs_;                    // [replica * tensors + tensor]
  std::vector<bool> is_pushed_;                  // likewise
  std::vector<std::size_t> missing_;             // of each pack: gradients that have not come
  std::vector<std::size_t> open_packs_;          // of each tensor
  std::vector<std::optional<Value>> sums_;       // of each tensor
  std::vector<Apply> applies_;                   // of each tensor
  std::deque<std::size_t> to_apply_;             // tensors whose sums are there
  std::vector<std::size_t> applied_;
  ReductionTimes times_;
  std::size_t begun_count_ = 0;           // packs, in the plan's order
  std::vector<std::size_t> finished_;     // packs, as they did
  std::vector<Flight> flights_;           // at most two, of the plan's thread
  TraceClock::time_point first_launch_;   // of those that are under way, one after the other
  int busy_count_ = 0;                    // threads that run a pack or apply a sum; flights
  bool is_running_ = false;               // a pack
  std::optional<std::size_t> failed_;     // the first pack that did, on all ranks
  std::exception_ptr pack_error_;         // its error, while another is under way
  std::optional<std::string> cancelled_;  // why the others have to be told
  bool has_told_ = false;                 // them
  std::exception_ptr error_;
};

}  // namespace fanin
