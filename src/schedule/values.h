#pragma once

#include <map>
#include <span>
#include <vector>

#include "fanin/schedule.h"

namespace fanin {

using ValueId = int;

/// What a place that was never written holds.
inline constexpr ValueId kNoValue = -1;

/// The expressions of one chunk: a value is the input of a rank, or a left fold of values. Equal
/// folds have equal ids, so equal ids mean equal bits. A copy is no value, only a name.
class Values {
 public:
  /// Ids 0 to rank_count - 1 are the inputs.
  explicit Values(int rank_count);

  int count() const { return static_cast<int>(sources_.size()); }
  bool is_input(ValueId id) const { return id < rank_count_; }

  /// What a fold is made of; empty for an input.
  std::span<const ValueId> sources(ValueId id) const {
    return sources_[static_cast<std::size_t>(id)];
  }

  /// The fold of all sources but the last, if it is a value that came before; else kNoValue.
  ValueId without_last(ValueId id) const;

  /// The left fold of these. A first source that is itself a fold is spliced in: ((a + b) + c) and
  /// (a + b + c) are the same bits. So the first source of a fold is always an input.
  ValueId fold(std::span<const ValueId> sources);

  /// The ADD_N tree over these: the value of a step.
  ValueId add_n(std::span<const ValueId> sources);

 private:
  int rank_count_;
  std::vector<std::vector<ValueId>> sources_;
  std::map<std::vector<ValueId>, ValueId> ids_;
};

/// The steps of each chunk, in order, so that who looks at all chunks does not look at all steps
/// for each. Made from a schedule where one is asked for; the schedule must outlive it.
class StepIndex {
 public:
  struct Entry {
    int round = 0;
    const Step* step = nullptr;
  };

  StepIndex(const Schedule& schedule);  // NOLINT(google-explicit-constructor)

  const Schedule& schedule() const { return schedule_; }
  std::span<const Entry> of(int chunk) const { return entries_[static_cast<std::size_t>(chunk)]; }

 private:
  const Schedule& schedule_;
  std::vector<std::vector<Entry>> entries_;
};

/// What one step did to one chunk.
struct StepValue {
  int round = 0;
  const Step* step = nullptr;  // in the schedule that was walked
  ValueId before = kNoValue;   // what its place held
  ValueId result = kNoValue;   // kNoValue when a source was not defined
};

/// One chunk's way through a schedule. The verifier and every lowering start from this.
struct ChunkWalk {
  Values values;
  std::vector<StepValue> steps;
  std::vector<ValueId> at_end;  // of each place
};

/// Walks the rounds. The schedule's places and chunks must be in range (see find_error).
ChunkWalk walk(const StepIndex& steps, int chunk);

}  // namespace fanin
