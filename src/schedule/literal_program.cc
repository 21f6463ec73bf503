#include <algorithm>
#include <set>

#include "schedule/goal.h"
#include "schedule/memory_program.h"
#include "schedule/operation_value.h"

namespace fanin {
namespace {

/// Where the places of one chunk keep what they hold while its steps run one after the other.
class LiteralLowering {
 public:
  LiteralLowering(const StepIndex& steps, int chunk)
      : schedule_(steps.schedule()), chunk_(chunk), walked_(walk(steps, chunk)) {
    const auto place_count = static_cast<std::size_t>(schedule_.place_count());
    held_.resize(place_count);
    last_write_.resize(place_count, -1);
    for (int rank = 0; rank < schedule_.rank_count; ++rank) {
      held_[static_cast<std::size_t>(rank)] = {Ref::Kind::kInput, rank, 0};
      if (wants(schedule_, rank, chunk))
        finished_.insert(walked_.at_end[static_cast<std::size_t>(rank)]);
    }
    for (std::size_t i = 0; i < walked_.steps.size(); ++i)
      last_write_[static_cast<std::size_t>(walked_.steps[i].step->to)] = static_cast<int>(i);
  }

  MemoryProgram lower() {
    const auto& steps = walked_.steps;
    for (std::size_t first = 0; first < steps.size();) {
      std::size_t end = first;
      while (end < steps.size() && steps[end].round == steps[first].round) ++end;
      run_round(first, end);
      first = end;
    }
    for (int rank = 0; rank < schedule_.rank_count; ++rank) give_untouched_input(rank);
    return std::move(program_);
  }

 private:
  /// All steps read before any writes: what they make takes fresh memory, and what it replaces is
  /// free only afterwards.
  void run_round(std::size_t first, std::size_t end) {
    std::vector<Ref> made;
    for (std::size_t i = first; i < end; ++i) {
      const StepValue& step = walked_.steps[i];
      Operation operation;
      for (const int source : step.step->sources)
        operation.sources.push_back(held_[static_cast<std::size_t>(source)]);
      operation.group_sizes = add_n_group_sizes(operation.sources.size());
      operation.finishes = finished_.contains(step.result);
      operation.targets = {target_of(step.step->to, i)};
      made.push_back(operation.targets.front());
      program_.operations.push_back(std::move(operation));
    }
    for (std::size_t i = first; i < end; ++i) {
      Ref& held = held_[static_cast<std::size_t>(walked_.steps[i].step->to)];
      if (held.kind == Ref::Kind::kScratch) free_.push_back(held.index);
      held = made[i - first];
    }
  }

  /// A rank whose input is what it wants, and that no step wrote, gets it all the same.
  void give_untouched_input(int rank) {
    if (!wants(schedule_, rank, chunk_) || last_write_[static_cast<std::size_t>(rank)] >= 0) return;
    program_.operations.push_back({.targets = {{Ref::Kind::kOutput, rank, 0}},
                                   .sources = {{Ref::Kind::kInput, rank, 0}},
                                   .group_sizes = {},
                                   .finishes = true});
  }

  Ref target_of(int place, std::size_t step) {
    if (place < schedule_.rank_count && wants(schedule_, place, chunk_) &&
        last_write_[static_cast<std::size_t>(place)] == static_cast<int>(step))
      return {Ref::Kind::kOutput, place, 0};
    if (free_.empty()) free_.push_back(program_.scratch_count++);
    const int index = free_.back();
    free_.pop_back();
    return {Ref::Kind::kScratch, 0, index};
  }

  const Schedule& schedule_;
  const int chunk_;
  const ChunkWalk walked_;
  std::vector<Ref> held_;        // by place
  std::vector<int> last_write_;  // by place: the last step that writes it, -1 if none
  std::set<ValueId> finished_;   // what somebody wants at the end
  std::vector<int> free_;        // scratch that nobody reads any more
  MemoryProgram program_;
};

}  // namespace

MemoryProgram lower_literally(const StepIndex& steps, int chunk) {
  return LiteralLowering(steps, chunk).lower();
}

}  // namespace fanin
