#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "schedule/goal.h"
#include "schedule/operation_value.h"
#include "schedule/values.h"
#include "schedule/window_program.h"

namespace fanin {
namespace {

using Sentence = std::optional<std::string>;

/// The tasks of one chunk, in the order of levels, ranks and of the program.
struct TaskAt {
  int level;
  int rank;
  const Operation* operation;
};
using TasksOfChunks = std::vector<std::vector<TaskAt>>;

TasksOfChunks tasks_by_chunk(const WindowProgram& program, int chunk_count) {
  TasksOfChunks tasks(static_cast<std::size_t>(chunk_count));
  for (int level = 0; level < program.level_count; ++level)
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
      for (const WindowLevel::Task& task :
           program.ranks[rank][static_cast<std::size_t>(level)].tasks)
        tasks[static_cast<std::size_t>(task.chunk)].push_back(
            {level, static_cast<int>(rank), &task.operation});
  return tasks;
}

/// Runs one chunk with expressions in place of data, level by level: a level reads only what
/// earlier levels (or, in its own rank, earlier tasks) have written.
class ChunkProof {
 public:
  ChunkProof(const WindowProgram& program, const StepIndex& steps, int chunk)
      : program_(program),
        schedule_(steps.schedule()),
        chunk_(chunk),
        walked_(walk(steps, chunk)) {}

  Sentence find_error(const std::vector<TaskAt>& tasks) {
    for (const TaskAt& task : tasks)
      for (const Ref& source : task.operation->sources)
        if (source.kind == Ref::Kind::kSlot) ++read_counts_[source];
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto& [level, rank, operation] = tasks[i];
      if (i > 0 && (tasks[i - 1].level != level || tasks[i - 1].rank != rank)) scratch_.clear();
      if (Sentence error = run(rank, level, *operation))
        return fmt::format("rank {}, level {}, chunk {}: {}", rank, level, chunk_, *error);
    }
    return find_unmet_output();
  }

 private:
  struct Written {
    ValueId value;
    int level;
  };

  const WindowLevel& level_of(int rank, int level) const {
    return program_.ranks[static_cast<std::size_t>(rank)][static_cast<std::size_t>(level)];
  }

  Sentence run(int rank, int level, const Operation& operation) {
    std::vector<ValueId> sources;
    bool reads_result = false;
    for (const Ref& source : operation.sources) {
      ValueId value = kNoValue;
      if (Sentence error = read(rank, level, source, value, reads_result)) return error;
      sources.push_back(value);
    }
    if (reads_result && (sources.size() != 1 || !operation.finishes))
      return "something is added to a finished sum";
    const auto value = value_of(operation, sources, walked_.values);
    if (!value) return "the groups do not fit the sources";
    for (const Ref& target : operation.targets)
      if (Sentence error = write(rank, level, operation, target, *value)) return error;
    return std::nullopt;
  }

  Sentence read(int rank, int level, const Ref& source, ValueId& value, bool& reads_result) {
    switch (source.kind) {
      case Ref::Kind::kInput:
        if (source.rank != rank || !holds(schedule_, rank, chunk_))
          return fmt::format("reads the input of rank {}", source.rank);
        value = rank;
        return std::nullopt;
      case Ref::Kind::kOutput:
        return "reads an output, which is a finished sum";
      case Ref::Kind::kScratch: {
        const auto found = scratch_.find(source.index);
        if (found == scratch_.end()) return "reads scratch that nobody has written";
        value = found->second;
        return std::nullopt;
      }
      case Ref::Kind::kSlot:
        return read_slot(rank, level, source, value, reads_result);
    }
    return "reads an unknown kind of memory";
  }

  Sentence read_slot(int rank, int level, const Ref& slot, ValueId& value, bool& reads_result) {
    const auto found = slots_.find({slot.rank, slot.index});
    if (found == slots_.end())
      return fmt::format("reads slot {} of rank {}, which nobody has written", slot.index,
                         slot.rank);
    if (slot.rank != rank) {
      const auto& waits = level_of(rank, level).waits;
      const LevelOf needed{slot.rank, found->second.level};
      if (std::ranges::find(waits, needed) == waits.end())
        return fmt::format("reads slot {} of rank {} without waiting for level {} of it",
                           slot.index, slot.rank, needed.level);
      if (!std::ranges::binary_search(program_.readers[static_cast<std::size_t>(slot.rank)], rank))
        return fmt::format(
            "reads a slot of rank {}, which does not wait for this reader before it "
            "writes again",
            slot.rank);
    }
    value = found->second.value;
    reads_result |= content(slot) == Cell::kResult;
    return read_place(rank, slot);
  }

  Sentence read_place(int rank, const Ref& slot) const {
    const Ref& place = place_of(slot);
    if (occupants_.at(place) != slot)
      return fmt::format("reads slot {} of rank {}, whose place holds another by then", slot.index,
                         slot.rank);
    return find_unawaited(rank, place);
  }

  /// Whoever uses a place must be awaited by its owner.
  Sentence find_unawaited(int rank, const Ref& place) const {
    const auto& readers = program_.readers[static_cast<std::size_t>(place.rank)];
    if (place.rank == rank || std::ranges::binary_search(readers, rank)) return std::nullopt;
    return fmt::format(
        "uses a place of rank {}, which does not wait for that before it writes again", place.rank);
  }

  Sentence write(int rank, int level, const Operation& operation, const Ref& target,
                 ValueId value) {
    switch (target.kind) {
      case Ref::Kind::kInput:
        return fmt::format("writes the input of rank {}", target.rank);
      case Ref::Kind::kScratch:
        if (target.index < 0 ||
            target.index >= program_.scratch_counts[static_cast<std::size_t>(rank)])
          return fmt::format("writes scratch {}, which is not counted", target.index);
        if (operation.finishes) return "writes a finished sum to scratch";
        scratch_[target.index] = value;
        return std::nullopt;
      case Ref::Kind::kOutput:
        if (target.rank != rank) return fmt::format("writes the output of rank {}", target.rank);
        if (!operation.finishes) return "writes an output that is not finished";
        if (!outputs_.emplace(rank, value).second) return "writes its output twice";
        return std::nullopt;
      case Ref::Kind::kSlot:
        break;
    }
    if (target.rank != rank) return fmt::format("writes a slot of rank {}", target.rank);
    const auto& slots = program_.slots[static_cast<std::size_t>(rank)];
    if (target.index < 0 || target.index >= static_cast<int>(slots.size()))
      return fmt::format("writes slot {}, which is not counted", target.index);
    const bool is_result = content(target) == Cell::kResult;
    const bool is_input = content(target) == Cell::kInput;
    if (is_result != operation.finishes || is_input != (value == rank))
      return fmt::format("writes something else to slot {} than the slot holds", target.index);
    if (!slots_.emplace(std::pair{rank, target.index}, Written{value, level}).second)
      return fmt::format("writes slot {} twice in one wave", target.index);
    return write_place(rank, operation, target);
  }

  Sentence write_place(int rank, const Operation& operation, const Ref& slot) {
    const auto& places = program_.places[static_cast<std::size_t>(rank)];
    if (slot.index >= static_cast<int>(places.size()))
      return fmt::format("writes slot {}, which has no place", slot.index);
    const Ref& place = place_of(slot);
    const auto [found, is_first] = occupants_.emplace(place, slot);
    if (is_first) {
      if (place == slot) return std::nullopt;
      return fmt::format("writes slot {}, whose place is not its own and was never written",
                         slot.index);
    }
    const bool reads_it =
        std::ranges::find(operation.sources, found->second) != operation.sources.end();
    if (!reads_it || read_counts_[found->second] != 1)
      return fmt::format("writes slot {} over slot {} of rank {}, which somebody else may read",
                         slot.index, found->second.index, found->second.rank);
    found->second = slot;
    return find_unawaited(rank, place);
  }

  const Ref& place_of(const Ref& slot) const {
    return program_
        .places[static_cast<std::size_t>(slot.rank)][static_cast<std::size_t>(slot.index)];
  }

  Cell content(const Ref& slot) const {
    return program_
        .slots[static_cast<std::size_t>(slot.rank)][static_cast<std::size_t>(slot.index)];
  }

  Sentence find_unmet_output() const {
    for (int rank = 0; rank < schedule_.rank_count; ++rank) {
      if (!wants(schedule_, rank, chunk_)) continue;
      const auto found = outputs_.find(rank);
      if (found == outputs_.end())
        return fmt::format("chunk {}: the output of rank {} is never written", chunk_, rank);
      if (found->second != walked_.at_end[static_cast<std::size_t>(rank)])
        return fmt::format("chunk {}: the output of rank {} is another sum than the schedule's",
                           chunk_, rank);
    }
    return std::nullopt;
  }

  const WindowProgram& program_;
  const Schedule& schedule_;
  const int chunk_;
  ChunkWalk walked_;
  std::map<int, ValueId> scratch_;
  std::map<std::pair<int, int>, Written> slots_;  // (rank, slot)
  std::map<Ref, int> read_counts_;                // of slots, in the whole program
  std::map<Ref, Ref> occupants_;                  // the slot that was last written to a place
  std::map<int, ValueId> outputs_;
};

/// Waits that could go round in a circle, or that nobody ends.
Sentence find_bad_wait(const WindowProgram& program) {
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    for (std::size_t level = 0; level < program.ranks[rank].size(); ++level) {
      for (const LevelOf& wait : program.ranks[rank][level].waits) {
        const auto at = [&] { return fmt::format("rank {}, level {}", rank, level); };
        if (wait.level < 0 || wait.level >= static_cast<int>(level))
          return fmt::format("{} waits for level {} of rank {}, which is not earlier", at(),
                             wait.level, wait.rank);
        if (!program.ranks[static_cast<std::size_t>(wait.rank)]
                 .at(static_cast<std::size_t>(wait.level))
                 .publishes)
          return fmt::format("{} waits for level {} of rank {}, which does not publish", at(),
                             wait.level, wait.rank);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_error(const WindowProgram& program, const Schedule& schedule) {
  if (Sentence error = find_bad_wait(program)) return error;
  const StepIndex steps(schedule);
  const TasksOfChunks tasks = tasks_by_chunk(program, schedule.chunk_count);
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
    if (Sentence error =
            ChunkProof(program, steps, chunk).find_error(tasks[static_cast<std::size_t>(chunk)]))
      return error;
  return std::nullopt;
}

}  // namespace fanin
