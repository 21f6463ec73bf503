#include "schedule/window_program.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "schedule/goal.h"
#include "schedule/shared_places.h"
#include "schedule/values.h"

namespace fanin {
namespace {

/// How a sum is made that goes from rank to rank.
enum class Sums : std::uint8_t { kAtOnce, kPassedOn };

/// Lowers one chunk into the program, starting from what is wanted.
class ChunkLowering {
 public:
  ChunkLowering(const StepIndex& steps, int chunk, Sums sums, WindowProgram& program)
      : schedule_(steps.schedule()),
        chunk_(chunk),
        sums_(sums),
        walked_(walk(steps, chunk)),
        program_(program) {
    for (const StepValue& step : walked_.steps)
      if (!values().is_input(step.result) && step.step->sources.size() > 1)
        makers_[step.result].insert(host_of(schedule_, step.step->to));
    for (ValueId id = 0; id < values().count(); ++id) {
      int level = -1;
      for (const ValueId source : sources_of(id))
        level = std::max(level, levels_[static_cast<std::size_t>(source)]);
      // A fold that no step made is a group of its reader and happens there.
      levels_.push_back(is_group(id) ? level : level + 1);
    }
  }

  void lower() {
    for (int rank = 0; rank < schedule_.rank_count; ++rank)
      if (wants(schedule_, rank, chunk_)) lower_output(rank);
    for (const auto& [key, made] : made_) emit(key.level, key.rank, key.value, made);
  }

 private:
  /// A value made by a rank, in the order in which tasks run.
  struct MadeKey {
    int level;
    ValueId value;
    int rank;
    friend auto operator<=>(const MadeKey&, const MadeKey&) = default;
  };
  struct Made {
    std::vector<Ref> targets;
  };

  const Values& values() const { return walked_.values; }
  int level_of(ValueId id) const { return levels_[static_cast<std::size_t>(id)]; }
  bool is_group(ValueId id) const { return !values().is_input(id) && !makers_.contains(id); }
  ValueId wanted_by(int rank) const { return walked_.at_end[static_cast<std::size_t>(rank)]; }

  /// What is read for a value.
  std::vector<ValueId> sources_of(ValueId id) const {
    const std::span<const ValueId> all = values().sources(id);
    if (sums_ == Sums::kPassedOn && !values().is_input(id) && !is_group(id))
      if (const ValueId before = values().without_last(id); before != kNoValue)
        if (is_passed_on(before, id)) return {before, all.back()};
    return {all.begin(), all.end()};
  }

  /// Whether the second sum is made by others than the first: who makes both need not store one.
  bool is_passed_on(ValueId first, ValueId second) const {
    return !is_group(first) && std::ranges::none_of(makers_.at(second), [&](int rank) {
      return makers_.at(first).contains(rank);
    });
  }

  bool makes(int rank, ValueId id) const {
    return values().is_input(id) ? rank == id : makers_.at(id).contains(rank);
  }

  void lower_output(int rank) {
    const ValueId wanted = wanted_by(rank);
    const Ref output{Ref::Kind::kOutput, rank, 0};
    if (makes(rank, wanted)) {
      make(rank, wanted).targets.push_back(output);
      return;
    }
    WindowLevel& level = level_at(rank, level_of(wanted) + 1);
    level.tasks.push_back({chunk_, {{output}, {read(rank, wanted, level)}, {}, true}});
  }

  /// Sees to it that `rank` makes the value, and all that this takes.
  Made& make(int rank, ValueId id) {
    const auto [found, is_new] = made_.try_emplace({level_of(id), id, rank});
    if (is_new && !values().is_input(id)) need_sources(rank, id);
    return found->second;
  }

  void need_sources(int rank, ValueId id) {
    for (const ValueId source : sources_of(id)) {
      if (is_group(source))
        need_sources(rank, source);
      else if (!(values().is_input(source) && source == rank))
        find_slot(rank, source);
    }
  }

  /// The slot from which `rank` reads the value: its own if it makes the value itself.
  Ref find_slot(int rank, ValueId id) {
    int owner = rank;
    if (!makes(rank, id)) owner = values().is_input(id) ? id : *makers_.at(id).begin();
    const auto [found, is_new] = slots_.try_emplace({owner, id}, 0);
    if (is_new) {
      auto& slots = program_.slots[static_cast<std::size_t>(owner)];
      found->second = static_cast<int>(slots.size());
      slots.push_back(content_of(id));
      make(owner, id).targets.push_back({Ref::Kind::kSlot, owner, found->second});
    }
    return {Ref::Kind::kSlot, owner, found->second};
  }

  /// What a slot with this value holds. A sum that somebody wants is finished where it is made.
  Cell content_of(ValueId id) const {
    if (values().is_input(id)) return Cell::kInput;
    for (int rank = 0; rank < schedule_.rank_count; ++rank)
      if (wants(schedule_, rank, chunk_) && wanted_by(rank) == id) return Cell::kResult;
    return Cell::kPartial;
  }

  WindowLevel& level_at(int rank, int level) {
    program_.level_count = std::max(program_.level_count, level + 1);
    for (auto& levels : program_.ranks)
      levels.resize(static_cast<std::size_t>(program_.level_count));
    return program_.ranks[static_cast<std::size_t>(rank)][static_cast<std::size_t>(level)];
  }

  /// Where `rank` reads the value, with the wait that this takes.
  Ref read(int rank, ValueId id, WindowLevel& level) {
    if (values().is_input(id) && id == rank) return {Ref::Kind::kInput, rank, 0};
    const Ref slot = find_slot(rank, id);
    if (slot.rank != rank) {
      const LevelOf wait{slot.rank, level_of(id)};
      if (std::ranges::find(level.waits, wait) == level.waits.end()) level.waits.push_back(wait);
      auto& readers = program_.readers[static_cast<std::size_t>(slot.rank)];
      const auto at = std::ranges::lower_bound(readers, rank);
      if (at == readers.end() || *at != rank) readers.insert(at, rank);
    }
    return slot;
  }

  void emit(int level_index, int rank, ValueId id, const Made& made) {
    WindowLevel& level = level_at(rank, level_index);
    if (values().is_input(id)) {
      emit_input(level, rank, made);
      return;
    }
    int scratch_count = 0;
    Operation operation = express(rank, id, level, scratch_count);
    operation.targets = made.targets;
    operation.finishes = content_of(id) == Cell::kResult;
    level.tasks.push_back({chunk_, std::move(operation)});
    int& most = program_.scratch_counts[static_cast<std::size_t>(rank)];
    most = std::max(most, scratch_count);
  }

  /// An input goes to its slot as it is, and finished to its output.
  void emit_input(WindowLevel& level, int rank, const Made& made) {
    for (const Ref& target : made.targets)
      level.tasks.push_back(
          {chunk_,
           {{target}, {{Ref::Kind::kInput, rank, 0}}, {}, target.kind == Ref::Kind::kOutput}});
  }

  /// The sources and groups of a fold. A group inside of a group goes to scratch first.
  Operation express(int rank, ValueId id, WindowLevel& level, int& scratch_count) {
    Operation operation;
    for (const ValueId source : sources_of(id)) {
      if (!is_group(source)) {
        operation.sources.push_back(read(rank, source, level));
        operation.group_sizes.push_back(1);
        continue;
      }
      const auto members = values().sources(source);
      const bool is_flat = std::ranges::none_of(members, [&](ValueId m) { return is_group(m); });
      if (is_flat && members.size() <= std::numeric_limits<std::uint8_t>::max()) {
        for (const ValueId member : members) operation.sources.push_back(read(rank, member, level));
        operation.group_sizes.push_back(static_cast<std::uint8_t>(members.size()));
        continue;
      }
      Operation inner = express(rank, source, level, scratch_count);
      inner.targets = {{Ref::Kind::kScratch, rank, scratch_count++}};
      operation.sources.push_back(inner.targets.front());
      operation.group_sizes.push_back(1);
      level.tasks.push_back({chunk_, std::move(inner)});
    }
    if (std::ranges::all_of(operation.group_sizes, [](int size) { return size == 1; }))
      operation.group_sizes.clear();
    return operation;
  }

  const Schedule& schedule_;
  const int chunk_;
  const Sums sums_;
  const ChunkWalk walked_;
  WindowProgram& program_;
  std::map<ValueId, std::set<int>> makers_;
  std::vector<int> levels_;
  std::map<MadeKey, Made> made_;
  std::map<std::pair<int, ValueId>, int> slots_;  // (owner, value) -> slot
};

WindowProgram lower(const Schedule& schedule, Sums sums) {
  const auto rank_count = static_cast<std::size_t>(schedule.rank_count);
  WindowProgram program;
  program.ranks.resize(rank_count);
  program.slots.resize(rank_count);
  program.readers.resize(rank_count);
  program.scratch_counts.resize(rank_count);
  program.places.resize(rank_count);
  const StepIndex steps(schedule);
  for (int chunk = 0; chunk < schedule.chunk_count; ++chunk)
    ChunkLowering(steps, chunk, sums, program).lower();
  for (const auto& levels : program.ranks)
    for (const WindowLevel& level : levels)
      for (const LevelOf& wait : level.waits)
        program.ranks[static_cast<std::size_t>(wait.rank)][static_cast<std::size_t>(wait.level)]
            .publishes = true;
  for (std::size_t rank = 0; rank < rank_count; ++rank)
    for (std::size_t slot = 0; slot < program.slots[rank].size(); ++slot)
      program.places[rank].push_back(
          {Ref::Kind::kSlot, static_cast<int>(rank), static_cast<int>(slot)});
  return program;
}

}  // namespace

int host_of(const Schedule& schedule, int place) {
  return place < schedule.rank_count ? place : (place - schedule.rank_count) % schedule.rank_count;
}

WindowProgram lower_to_window(const Schedule& schedule) { return lower(schedule, Sums::kAtOnce); }

WindowProgram lower_to_pads(const Schedule& schedule) {
  WindowProgram program = lower(schedule, Sums::kPassedOn);
  share_places(program);
  return program;
}

}  // namespace fanin
