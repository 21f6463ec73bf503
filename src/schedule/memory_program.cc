#include "schedule/memory_program.h"

#include <algorithm>
#include <limits>
#include <map>

#include "schedule/goal.h"

namespace fanin {
namespace {

/// Who writes what: for each value at the end, the outputs that get it.
std::map<ValueId, std::vector<Ref>> find_targets(const Schedule& schedule, int chunk,
                                                 const ChunkWalk& walked, Outputs outputs) {
  std::map<ValueId, std::vector<Ref>> targets;
  for (int rank = 0; rank < schedule.rank_count; ++rank) {
    if (!wants(schedule, rank, chunk)) continue;
    auto& refs = targets[walked.at_end[static_cast<std::size_t>(rank)]];
    if (refs.empty() || outputs == Outputs::kSeparate)
      refs.push_back({Ref::Kind::kOutput, rank, 0});
  }
  return targets;
}

/// Which folds get memory of their own: those that are wanted, and those that several folds read,
/// or one that is itself only a group. Every other fold is a group in the operation of its reader.
std::vector<bool> choose_stored(const Values& values,
                                const std::map<ValueId, std::vector<Ref>>& targets) {
  const auto count = static_cast<std::size_t>(values.count());
  std::vector<bool> needed(count), stored(count);
  std::vector<int> readers(count);
  for (const auto& [id, refs] : targets) needed[static_cast<std::size_t>(id)] = true;
  stored = needed;
  // A fold has a larger id than its sources, so readers are visited before what they read.
  for (ValueId id = values.count() - 1; id >= 0; --id) {
    if (!needed[static_cast<std::size_t>(id)]) continue;
    for (const ValueId source : values.sources(id)) {
      needed[static_cast<std::size_t>(source)] = true;
      ++readers[static_cast<std::size_t>(source)];
    }
  }
  for (ValueId id = values.count() - 1; id >= 0; --id) {
    if (!needed[static_cast<std::size_t>(id)]) continue;
    for (const ValueId source : values.sources(id)) {
      if (values.is_input(source)) continue;
      const auto at = static_cast<std::size_t>(source);
      const bool fits_group =
          values.sources(source).size() <= std::numeric_limits<std::uint8_t>::max();
      if (!stored[static_cast<std::size_t>(id)] || readers[at] > 1 || !fits_group)
        stored[at] = true;
    }
  }
  return stored;
}

/// Appends an expression over inputs, in postfix. Returns whether it has room.
bool append_postfix(const Values& values, ValueId id, std::size_t most_sources,
                    Operation& operation) {
  if (values.is_input(id)) {
    operation.sources.push_back({Ref::Kind::kInput, id, 0});
    operation.joins.push_back(0);
    return operation.sources.size() <= most_sources;
  }
  bool is_first = true;
  for (const ValueId source : values.sources(id)) {
    if (!append_postfix(values, source, most_sources, operation)) return false;
    if (!is_first) ++operation.joins.back();
    is_first = false;
  }
  return true;
}

}  // namespace

MemoryProgram lower_to_memory(const StepIndex& steps, int chunk, Outputs outputs,
                              std::size_t most_nested_sources) {
  const ChunkWalk walked = walk(steps, chunk);
  const Values& values = walked.values;
  const auto targets = find_targets(steps.schedule(), chunk, walked, outputs);
  const std::vector<bool> stored = choose_stored(values, targets);

  MemoryProgram program;
  std::vector<Ref> where(static_cast<std::size_t>(values.count()));
  for (ValueId id = 0; id < values.count(); ++id) {
    if (values.is_input(id)) where[static_cast<std::size_t>(id)] = {Ref::Kind::kInput, id, 0};
    if (!stored[static_cast<std::size_t>(id)]) continue;

    Operation operation;
    if (values.is_input(id)) operation.sources = {where[static_cast<std::size_t>(id)]};
    for (const ValueId source : values.sources(id)) {
      if (values.is_input(source) || stored[static_cast<std::size_t>(source)]) {
        operation.sources.push_back(where[static_cast<std::size_t>(source)]);
        operation.group_sizes.push_back(1);
        continue;
      }
      const auto group = values.sources(source);
      for (const ValueId member : group)
        operation.sources.push_back(where[static_cast<std::size_t>(member)]);
      operation.group_sizes.push_back(static_cast<std::uint8_t>(group.size()));
    }
    if (std::ranges::all_of(operation.group_sizes, [](int size) { return size == 1; }))
      operation.group_sizes.clear();

    if (const auto wanted = targets.find(id); wanted != targets.end()) {
      operation.targets = wanted->second;
      operation.finishes = true;
    } else {
      where[static_cast<std::size_t>(id)] = {Ref::Kind::kScratch, 0, program.scratch_count++};
      operation.targets = {where[static_cast<std::size_t>(id)]};
    }
    program.operations.push_back(std::move(operation));
  }
  if (program.scratch_count == 0 || targets.size() > 1) return program;
  Operation nested{.targets = targets.begin()->second, .sources = {}, .finishes = true};
  if (!append_postfix(values, targets.begin()->first, most_nested_sources, nested)) return program;
  return {.operations = {std::move(nested)}, .scratch_count = 0};
}

}  // namespace fanin
