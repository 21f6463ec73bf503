#include "executor/window_plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/require.h"
#include "schedule/goal.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

// What all chunks together move in one wave: large enough to hide a hand-over, small enough that
// the slots of all levels stay in cache.
constexpr std::size_t kWaveBytes = 256 << 10;
// Where ranks share cores, a hand-over costs a switch.
constexpr std::size_t kWaveBytesOfSharing = 512 << 10;
// In shared rooms lines go to and fro between the cores; the fewer they are, the nearer they stay,
// and so does the data of ranks that share a core.
constexpr std::size_t kWaveBytesOfSharedRooms = 128 << 10;
constexpr std::size_t kWaveBytesOfSharedRoomsAndCores = 64 << 10;
constexpr std::size_t kSlotLine = 64;

std::size_t wave_bytes(const WindowPlan::Room& room) {
  if (room.is_shared)
    return room.ranks_share_cores ? kWaveBytesOfSharedRoomsAndCores : kWaveBytesOfSharedRooms;
  return room.ranks_share_cores ? kWaveBytesOfSharing : kWaveBytes;
}

}  // namespace

bool WindowPlan::can_share_places(const Arithmetic& arithmetic) {
  const std::size_t bytes = arithmetic.size_of(Cell::kInput);
  return arithmetic.size_of(Cell::kPartial) == bytes && arithmetic.size_of(Cell::kResult) == bytes;
}

/// What one call hands down.
struct WindowPlan::Run {
  Transport& transport;
  Rooms rooms;
  std::uint64_t wave_base;
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  Call call;
  int level = 0;
  std::size_t wave = 0;
  Store slot_store = Store::kCached;
  std::size_t slot_bytes = 0;  // that were written
};

WindowPlan::WindowPlan(std::shared_ptr<const ProvedSchedule> schedule, Layout layout,
                       const Arithmetic& arithmetic, int rank, const Room& room, Context& context)
    : schedule_(std::move(schedule)),
      program_(room.is_shared ? schedule_->pads() : schedule_->windows()),
      layout_(std::move(layout)),
      arithmetic_(arithmetic),
      rank_(rank),
      is_shared_(room.is_shared),
      only_moves_(!adds(schedule_->schedule().goal)) {
  const Schedule& data = schedule_->schedule();
  require(Transport::kFirstFreeFlag + program_.level_count <= room.flag_count,
          ErrorKind::kBadSchedule, "{}: {} levels need {} flags, and the transport has {}",
          data.name, program_.level_count, Transport::kFirstFreeFlag + program_.level_count,
          room.flag_count);

  const std::size_t cell_bytes =
      std::max({arithmetic.size_of(Cell::kInput), arithmetic.size_of(Cell::kPartial),
                arithmetic.size_of(Cell::kResult)});
  std::size_t most_slots = 1;
  for (const auto& slots : program_.slots) most_slots = std::max(most_slots, slots.size());
  most_slots *= static_cast<std::size_t>(std::max(1, program_.level_count));
  const std::size_t line_elements = kSlotLine;  // a whole number of lines for every type
  const std::size_t fits =
      room.bytes_of_rank / most_slots / cell_bytes / line_elements * line_elements;
  require(fits > 0, ErrorKind::kBadSchedule,
          "{}: {} slots do not fit into a window of {} bytes; use fewer ranks or another algorithm",
          data.name, most_slots, room.bytes_of_rank);
  const std::size_t wanted = wave_bytes(room) / cell_bytes /
                             static_cast<std::size_t>(data.chunk_count) / line_elements *
                             line_elements;
  block_ = std::clamp(wanted, line_elements, fits);
  slot_bytes_ = block_ * cell_bytes;
  wave_count_ = (layout_.longest_chunk() + block_ - 1) / block_;
  shifts_ = find_part_shifts(data, layout_, rank);

  const auto scratch_count =
      static_cast<std::size_t>(program_.scratch_counts[static_cast<std::size_t>(rank)]);
  scratch_ =
      context.buffers().allocate(scratch_count * block_ * arithmetic.size_of(Cell::kPartial));
  for (const WindowLevel& level : program_.ranks[static_cast<std::size_t>(rank)]) {
    for (const WindowLevel::Task& task : level.tasks) {
      operands_.resize(std::max(operands_.size(), task.operation.sources.size()));
      targets_.resize(std::max(targets_.size(), task.operation.targets.size()));
    }
  }
}

void WindowPlan::run(Transport& transport, std::uint64_t& wave_base,
                     std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     Call& call, const Rooms& rooms) {
  Run run{transport, rooms, wave_base, inputs, outputs, call};
  const auto describe = [&] {
    return fmt::format("{} (level {} of {}, block {} of {})", call.describe(), run.level + 1,
                       program_.level_count, run.wave + 1, wave_count_);
  };
  run.call.describe = std::cref(describe);
  const auto level_count = static_cast<std::size_t>(program_.level_count);
  // Iteration i runs level l of wave i - l, so that all levels are in flight.
  for (std::size_t i = 0; wave_count_ > 0 && i < wave_count_ + level_count - 1; ++i) {
    call.give_way();
    for (std::size_t level = i < wave_count_ ? 0 : i - wave_count_ + 1;
         level < level_count && level <= i; ++level)
      run_level(run, static_cast<int>(level), i - level);
  }
  call.deadline = run.call.deadline;
  wave_base += wave_count_;
}

void WindowPlan::wait(Run& run, int rank, int flag, std::size_t wave, int level) const {
  run.level = level;
  run.wave = wave;
  wait_for_count(run.transport, rank, flag, run.wave_base + wave + 1, run.call);
}

void WindowPlan::run_level(Run& run, int level, std::size_t wave) {
  const WindowLevel& work =
      program_.ranks[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(level)];
  const auto level_count = static_cast<std::size_t>(program_.level_count);
  // This wave's slots were last used level_count waves ago: their readers must be done with them.
  if (level == 0 && wave >= level_count)
    for (const int reader : program_.readers[static_cast<std::size_t>(rank_)])
      wait(run, reader, Transport::kCompletionFlag, wave - level_count, level);
  for (const LevelOf& needed : work.waits)
    wait(run, needed.rank, Transport::kFirstFreeFlag + needed.level, wave, level);
  {
    // Not while it waits: whoever gives up waits until nobody has access.
    const WriteAccess access =
        is_shared_ ? run.transport.write_access(run.rooms.renewal_counts, run.call) : WriteAccess();
    if (level == 0) {
      run_first_tasks(run, work, wave);
    } else {
      run.slot_store = slot_store_.usual();
      for (const WindowLevel::Task& task : work.tasks) run_task(run, task, wave);
    }
  }
  if (work.publishes)
    publish_count(run.transport, Transport::kFirstFreeFlag + level, run.wave_base + wave + 1,
                  run.call);
  if (level == program_.level_count - 1)
    publish_count(run.transport, Transport::kCompletionFlag, run.wave_base + wave + 1, run.call);
}

/// The first level waits for nobody's data: how long it takes says how well slots can be written.
void WindowPlan::run_first_tasks(Run& run, const WindowLevel& work, std::size_t wave) {
  const auto [store, is_timed] = slot_store_.next();
  run.slot_store = store;
  run.slot_bytes = 0;
  const Deadline begin = is_timed ? Clock::now() : Deadline();
  for (const WindowLevel::Task& task : work.tasks) run_task(run, task, wave);
  if (is_timed)
    slot_store_.tell(store, std::chrono::duration<double>(Clock::now() - begin).count(),
                     run.slot_bytes);
}

void WindowPlan::run_task(Run& run, const WindowLevel::Task& task, std::size_t wave) {
  const Layout::Range chunk = layout_.chunk(task.chunk);
  const std::size_t begin = std::min(chunk.begin + wave * block_, chunk.end);
  const std::size_t end = std::min(begin + block_, chunk.end);
  std::size_t in_block = 0;
  layout_.for_each_segment({begin, end}, [&](const Layout::Segment& piece) {
    run_piece(run, task, wave, in_block, piece);
    in_block += piece.count;
  });
}

std::byte* WindowPlan::slot_address(Run& run, const Ref& slot, std::size_t wave) const {
  const std::size_t set = wave % static_cast<std::size_t>(program_.level_count);
  const Ref& place =
      program_.places[static_cast<std::size_t>(slot.rank)][static_cast<std::size_t>(slot.index)];
  const auto owner = static_cast<std::size_t>(place.rank);
  const std::size_t index =
      set * program_.slots[owner].size() + static_cast<std::size_t>(place.index);
  return run.rooms.begins[owner] + index * slot_bytes_;
}

void WindowPlan::run_piece(Run& run, const WindowLevel::Task& task, std::size_t wave,
                           std::size_t in_block, const Layout::Segment& piece) {
  const Operation& operation = task.operation;
  const PartShift shift = shifts_[static_cast<std::size_t>(task.chunk)];
  const auto at = [&](const Ref& ref, Cell& cell) -> std::byte* {
    switch (ref.kind) {
      case Ref::Kind::kOutput:
        cell = Cell::kResult;
        return run.outputs[piece.tensor] +
               (piece.offset - shift.output) * arithmetic_.size_of(cell);
      case Ref::Kind::kScratch:
        cell = Cell::kPartial;
        return scratch_.bytes().data() + (static_cast<std::size_t>(ref.index) * block_ + in_block) *
                                             arithmetic_.size_of(cell);
      default:
        cell =
            program_.slots[static_cast<std::size_t>(ref.rank)][static_cast<std::size_t>(ref.index)];
        return slot_address(run, ref, wave) + in_block * arithmetic_.size_of(cell);
    }
  };
  for (std::size_t i = 0; i < operation.sources.size(); ++i) {
    const Ref& ref = operation.sources[i];
    Operand& operand = operands_[i];
    operand.cell = Cell::kInput;
    operand.data = ref.kind == Ref::Kind::kInput
                       ? run.inputs[piece.tensor] +
                             (piece.offset - shift.input) * arithmetic_.size_of(Cell::kInput)
                       : at(ref, operand.cell);
  }
  // What others read goes last.
  Cell target_cell = Cell::kResult;
  std::size_t target_count = 0;
  for (const Ref& target : operation.targets)
    if (target.kind != Ref::Kind::kSlot) targets_[target_count++] = at(target, target_cell);
  const std::size_t own_count = target_count;
  for (const Ref& target : operation.targets)
    if (target.kind == Ref::Kind::kSlot) targets_[target_count++] = at(target, target_cell);
  const std::size_t bytes = piece.count * arithmetic_.size_of(target_cell);
  run.slot_bytes += (target_count - own_count) * bytes;
  const auto copy_to = [&](std::size_t first, std::size_t last, const std::byte* from) {
    for (std::size_t i = first; i < last; ++i)
      if (targets_[i] != from)  // in place
        copy({targets_[i], bytes}, {from, bytes}, i < own_count ? Store::kCached : run.slot_store);
  };

  // An input on its way to a slot, or a result on its way to an output, is only copied; so is
  // everything where nothing is added.
  const Cell source_cell = operands_.front().cell;
  if (operation.sources.size() == 1 && (source_cell == target_cell || only_moves_))
    return copy_to(0, target_count, operands_.front().data);

  // Past the cache only what others read: it is copied from what this rank keeps.
  const bool is_apart = run.slot_store == Store::kStreaming && own_count > 0;
  const std::size_t folded = is_apart ? own_count : target_count;
  fold(arithmetic_, {.sources = std::span(operands_).first(operation.sources.size()),
                     .group_sizes = operation.group_sizes,
                     .targets = std::span(targets_).first(folded),
                     .target_cell = target_cell,
                     .count = piece.count,
                     .store = is_apart ? Store::kCached : run.slot_store});
  copy_to(folded, target_count, targets_.front());
}

}  // namespace fanin
