#include <fmt/format.h>

#include <map>

#include "schedule/goal.h"
#include "schedule/memory_program.h"
#include "schedule/operation_value.h"

namespace fanin {

std::optional<std::string> find_error(const MemoryProgram& program, const StepIndex& steps,
                                      int chunk, Outputs outputs) {
  const Schedule& schedule = steps.schedule();
  ChunkWalk walked = walk(steps, chunk);
  struct Held {
    ValueId value;
    bool is_finished;
  };
  std::map<Ref, Held> held;  // scratch and outputs that have been written
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    const auto at = [&] { return fmt::format("operation {} of chunk {}", i, chunk); };

    std::vector<ValueId> sources;
    for (const Ref& source : operation.sources) {
      if (source.kind == Ref::Kind::kInput && source.rank >= 0 &&
          source.rank < schedule.rank_count && holds(schedule, source.rank, chunk)) {
        sources.push_back(source.rank);
        continue;
      }
      const auto found = held.find(source);
      if (found == held.end()) return fmt::format("{} reads what nobody has written", at());
      if (found->second.is_finished && (operation.sources.size() > 1 || !operation.finishes))
        return fmt::format("{} adds to a finished sum", at());
      sources.push_back(found->second.value);
    }
    const auto value = value_of(operation, sources, walked.values);
    if (!value) return fmt::format("{} has groups that do not fit its sources", at());

    for (const Ref& target : operation.targets) {
      if (target.kind == Ref::Kind::kInput)
        return fmt::format("{} writes the input of rank {}", at(), target.rank);
      if (target.kind == Ref::Kind::kSlot) return fmt::format("{} writes a slot", at());
      const bool is_output = target.kind == Ref::Kind::kOutput;
      if (!is_output && (target.index < 0 || target.index >= program.scratch_count))
        return fmt::format("{} writes scratch {} of {}", at(), target.index, program.scratch_count);
      if (is_output && !operation.finishes)
        return fmt::format("{} writes an output that is not finished", at());
      if (is_output && held.contains(target))
        return fmt::format("{} writes an output that was written before", at());
      held[target] = {*value, operation.finishes};
    }
  }

  bool is_first = true;
  for (int rank = 0; rank < schedule.rank_count; ++rank) {
    if (!wants(schedule, rank, chunk)) continue;
    if (!is_first && outputs == Outputs::kShared) break;
    is_first = false;
    const auto found = held.find({Ref::Kind::kOutput, rank, 0});
    if (found == held.end())
      return fmt::format("chunk {}: the output of rank {} is never written", chunk, rank);
    if (found->second.value != walked.at_end[static_cast<std::size_t>(rank)])
      return fmt::format("chunk {}: the output of rank {} is another sum than the schedule's",
                         chunk, rank);
  }
  return std::nullopt;
}

}  // namespace fanin
