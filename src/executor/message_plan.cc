#include "executor/message_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/require.h"
#include "schedule/goal.h"
#include "schedule/window_program.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

// The longest message: MPI libraries send up to 64 KiB at once, but ask the receiver before they
// send more, which leaves a wire idle half of the time when both of its ends do so.
constexpr std::size_t kMessageBytes = 60'000;
// Large enough that a message costs little beside its bytes.
constexpr std::size_t kLeastBlock = 8 << 10;
constexpr std::size_t kWavesUnderWay = 8;

/// Of all messages between ranks.
std::size_t most_chunks_in_message(const MessageProgram& program) {
  std::size_t most = 1;
  for (const auto& actions : program.places)
    for (const MessageProgram::Action& action : actions)
      if (const auto* sent = std::get_if<MessageProgram::Send>(&action))
        most = std::max(most, sent->cargo.size());
  return most;
}

std::size_t choose_block(const MessageProgram& program, const Layout& layout,
                         std::size_t cell_bytes, std::optional<std::size_t> block_bytes) {
  const std::size_t bytes =
      block_bytes.value_or(std::max(kMessageBytes / most_chunks_in_message(program), kLeastBlock));
  const std::size_t wanted = bytes / cell_bytes / kLineElements * kLineElements;
  const std::size_t all =
      (layout.longest_chunk() + kLineElements - 1) / kLineElements * kLineElements;
  return std::clamp(wanted, kLineElements, std::max(all, kLineElements));
}

/// How far a wave has come.
struct Flight {
  std::vector<std::size_t> next;                       // the next action of each place
  std::vector<std::pair<MessageName, Buffer>> inside;  // messages between places of this rank
};

}  // namespace

/// What one call hands down.
struct MessagePlan::Run {
  Links& links;
  int rank;
  std::uint64_t wave_base;
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  Call call;
  std::vector<Flight> flights = {};  // wave w is in flight w mod kWavesUnderWay
  std::size_t shown_wave = 0;        // in what the call says
  int waits_for = 0;                 // the first that an action could not go on without

  MessageName name_of(const Action& action, std::size_t wave) const {
    MessageName name = action.name;
    name.wave = wave_base + wave;
    return name;
  }
};

MessagePlan::MessagePlan(std::shared_ptr<const ProvedSchedule> schedule, Layout layout,
                         const Arithmetic& arithmetic, int rank, Context& context,
                         std::optional<std::size_t> block_bytes)
    : schedule_(std::move(schedule)),
      layout_(std::move(layout)),
      arithmetic_(arithmetic),
      rank_(rank),
      context_(context),
      only_moves_(!adds(schedule_->schedule().goal)),
      shifts_(find_part_shifts(schedule_->schedule(), layout_, rank)),
      cell_bytes_(std::max({arithmetic.size_of(Cell::kInput), arithmetic.size_of(Cell::kPartial),
                            arithmetic.size_of(Cell::kResult)})),
      block_(choose_block(schedule_->messages(), layout_, cell_bytes_, block_bytes)),
      wave_count_((layout_.longest_chunk() + block_ - 1) / block_) {
  const Schedule& data = schedule_->schedule();
  for (int place = 0; place < data.place_count(); ++place)
    if (host_of(data, place) == rank) bind_place(place);
  find_neighbours();
  overwrites_inputs_ = overwrites_inputs();
  count_elements();
  const std::size_t waves = std::min(wave_count_, kWavesUnderWay);
  memory_ = context.buffers().allocate(waves * blocks_in_wave_ * block_ * cell_bytes_);
}

MessagePlan::Action MessagePlan::bind_message(const MessageProgram::Message& message, int place,
                                              Action::Kind kind) const {
  const bool sends = kind == Action::Kind::kSend;
  return {.kind = kind,
          .peer = host_of(schedule_->schedule(), message.peer),
          .name = {.wave = 0,
                   .from = sends ? place : message.peer,
                   .to = sends ? message.peer : place,
                   .number = message.number},
          .chunks = message.chunks,
          .cargo = message.cargo};
}

void MessagePlan::bind_place(int index) {
  const MessageProgram& program = schedule_->messages();
  const auto at = static_cast<std::size_t>(index);
  Place place;
  place.first_slot = blocks_in_wave_;
  place.first_scratch = place.first_slot + static_cast<std::size_t>(program.slot_counts[at]);
  blocks_in_wave_ = place.first_scratch + static_cast<std::size_t>(program.scratch_counts[at]);

  std::map<std::pair<Ref, int>, Cell> cells;  // (memory, chunk): what is there now
  const auto cell_of = [&](const Ref& memory, int chunk) {
    const auto found = cells.find({memory, chunk});
    return found == cells.end() ? Cell::kInput : found->second;
  };
  for (const MessageProgram::Action& each : program.places[at]) {
    if (const auto* sent = std::get_if<MessageProgram::Send>(&each)) {
      place.actions.push_back(bind_message(*sent, index, Action::Kind::kSend));
    } else if (const auto* received = std::get_if<MessageProgram::Receive>(&each)) {
      place.actions.push_back(bind_message(*received, index, Action::Kind::kReceive));
      for (std::size_t i = 0; i < received->cargo.size(); ++i)
        cells[{received->cargo[i].memory, received->chunks.first + static_cast<int>(i)}] =
            received->cargo[i].cell;
    } else {
      const auto& fold = std::get<MessageProgram::Fold>(each);
      const Operation& operation = fold.operation;
      Action action{.kind = Action::Kind::kFold,
                    .chunks = {fold.chunk, fold.chunk + 1},
                    .cargo = {},
                    .target = {operation.targets.front(),
                               operation.finishes ? Cell::kResult : Cell::kPartial},
                    .group_sizes = operation.group_sizes};
      for (const Ref& source : operation.sources)
        action.cargo.push_back({source, cell_of(source, fold.chunk)});
      cells[{action.target.memory, fold.chunk}] = action.target.cell;
      operands_.resize(std::max(operands_.size(), operation.sources.size()));
      place.actions.push_back(std::move(action));
    }
  }
  places_.push_back(std::move(place));
}

void MessagePlan::find_neighbours() {
  std::set<int> senders;
  std::set<int> receivers;
  for (const Place& place : places_)
    for (const Action& action : place.actions) {
      if (action.peer == rank_ || action.kind == Action::Kind::kFold) continue;
      (action.kind == Action::Kind::kReceive ? senders : receivers).insert(action.peer);
    }
  senders_.assign(senders.begin(), senders.end());
  receivers_.assign(receivers.begin(), receivers.end());
}

void MessagePlan::count_elements() {
  const Schedule& data = schedule_->schedule();
  held_elements_.resize(layout_.tensor_count());
  wanted_elements_.resize(layout_.tensor_count());
  for (int chunk = 0; chunk < data.chunk_count; ++chunk)
    layout_.for_each_segment(layout_.chunk(chunk), [&](const Layout::Segment& piece) {
      if (holds(data, rank_, chunk)) held_elements_[piece.tensor] += piece.count;
      if (wants(data, rank_, chunk)) wanted_elements_[piece.tensor] += piece.count;
    });
}

/// Whether an output is written before the same chunk of the input was last read.
bool MessagePlan::overwrites_inputs() const {
  std::set<int> written;
  for (const Place& place : places_)
    for (const Action& action : place.actions) {
      const bool is_fold = action.kind == Action::Kind::kFold;
      for (std::size_t i = 0; i < action.cargo.size(); ++i) {
        const int chunk = action.chunks.first + (is_fold ? 0 : static_cast<int>(i));
        const Ref::Kind kind = action.cargo[i].memory.kind;
        if (action.kind != Action::Kind::kReceive && kind == Ref::Kind::kInput &&
            written.contains(chunk))
          return true;
        if (action.kind == Action::Kind::kReceive && kind == Ref::Kind::kOutput)
          written.insert(chunk);
      }
      if (is_fold && action.target.memory.kind == Ref::Kind::kOutput)
        written.insert(action.chunks.first);
    }
  return false;
}

void MessagePlan::run(Transport& transport, std::uint64_t& wave_base,
                      std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                      Call& call) {
  // Rare enough that the memory is not kept.
  std::vector<Buffer> copies;
  std::vector<const std::byte*> copied(inputs.begin(), inputs.end());
  for (std::size_t i = 0; overwrites_inputs_ && i < inputs.size(); ++i) {
    const std::size_t bytes = held_elements_[i] * arithmetic_.size_of(Cell::kInput);
    const std::byte* const end =
        outputs[i] + wanted_elements_[i] * arithmetic_.size_of(Cell::kResult);
    const bool is_apart =
        std::less_equal<>{}(inputs[i] + bytes, outputs[i]) || std::less_equal<>{}(end, inputs[i]);
    if (is_apart || bytes == 0) continue;
    copies.push_back(context_.buffers().allocate(bytes));
    std::memcpy(copies.back().bytes().data(), inputs[i], bytes);
    copied[i] = copies.back().bytes().data();
  }

  Run run{.links = *transport.links(),
          .rank = rank_,
          .wave_base = wave_base,
          .inputs = copied,
          .outputs = outputs,
          .call = call,
          .flights = std::vector<Flight>(std::min(wave_count_, kWavesUnderWay))};
  const auto describe = [&] {
    return fmt::format("{} (block {} of {})", call.describe(), run.shown_wave + 1, wave_count_);
  };
  run.call.describe = std::cref(describe);

  std::size_t begun = 0;
  for (std::size_t done = 0; done < wave_count_;) {
    call.give_way();
    bool has_moved = false;
    for (; begun < wave_count_ && begun - done < kWavesUnderWay; ++begun)
      run.flights[begun % kWavesUnderWay].next.assign(places_.size(), 0);
    run.waits_for = rank_;
    for (std::size_t wave = done; wave < begun; ++wave) has_moved |= advance(run, wave);
    for (; done < begun; ++done) {
      const Flight& flight = run.flights[done % kWavesUnderWay];
      if (!std::ranges::equal(flight.next, places_, {}, {},
                              [](const Place& place) { return place.actions.size(); }))
        break;
      tell_done(run, done);
      has_moved = true;
    }
    if (!has_moved) run.links.wait(run.waits_for, run.call);
  }
  // Nobody may be waiting for what only goes on while this rank is here.
  for (const int receiver : receivers_)
    while (!run.links.has_sent_all(receiver)) run.links.wait(receiver, run.call);
  call.deadline = run.call.deadline;
  wave_base += wave_count_;
}

/// Whoever sends to this rank may send so many waves more: nobody is flooded.
void MessagePlan::tell_done(Run& run, std::size_t wave) {
  if (wave + kWavesUnderWay >= wave_count_) return;  // it may send all already
  for (const int sender : senders_) run.links.tell_done(sender, run.wave_base + wave + 1, run.call);
}

bool MessagePlan::advance(Run& run, std::size_t wave) {
  Flight& flight = run.flights[wave % kWavesUnderWay];
  bool has_moved = false;
  // A place may wait for another of this rank.
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Place& place = places_[i];
      while (flight.next[i] < place.actions.size() &&
             try_action(run, place, place.actions[flight.next[i]], wave)) {
        ++flight.next[i];
        again = has_moved = true;
      }
    }
  }
  return has_moved;
}

bool MessagePlan::try_action(Run& run, const Place& place, const Action& action, std::size_t wave) {
  switch (action.kind) {
    case Action::Kind::kSend:
      return send(run, place, action, wave);
    case Action::Kind::kReceive:
      return receive(run, place, action, wave);
    default:
      fold_sources(run, place, action, wave);
      return true;
  }
}

Layout::Range MessagePlan::range_of(int chunk, std::size_t wave) const {
  const Layout::Range all = layout_.chunk(chunk);
  const std::size_t begin = std::min(all.begin + wave * block_, all.end);
  return {begin, std::min(begin + block_, all.end)};
}

std::size_t MessagePlan::bytes_of(const Action& action, std::size_t wave) const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < action.cargo.size(); ++i) {
    const Layout::Range range = range_of(action.chunks.first + static_cast<int>(i), wave);
    bytes += (range.end - range.begin) * arithmetic_.size_of(action.cargo[i].cell);
  }
  return bytes;
}

std::byte* MessagePlan::address(Run& run, const Place& place, const Cargo& cargo, std::size_t wave,
                                int chunk, std::size_t in_block,
                                const Layout::Segment& piece) const {
  const std::size_t size = arithmetic_.size_of(cargo.cell);
  const PartShift& shift = shifts_[static_cast<std::size_t>(chunk)];
  const auto in_wave = [&](std::size_t first) {
    const std::size_t block = wave % kWavesUnderWay * blocks_in_wave_ + first +
                              static_cast<std::size_t>(cargo.memory.index);
    return memory_.bytes().data() + block * block_ * cell_bytes_ + in_block * size;
  };
  switch (cargo.memory.kind) {
    case Ref::Kind::kInput:
      // Only read: find_error() has proved it.
      return const_cast<std::byte*>(run.inputs[piece.tensor]) + (piece.offset - shift.input) * size;
    case Ref::Kind::kOutput:
      return run.outputs[piece.tensor] + (piece.offset - shift.output) * size;
    case Ref::Kind::kSlot:
      return in_wave(place.first_slot);
    default:
      return in_wave(place.first_scratch);
  }
}

bool MessagePlan::send(Run& run, const Place& place, const Action& action, std::size_t wave) {
  const std::size_t bytes = bytes_of(action, wave);
  if (bytes == 0) return true;
  const bool stays = action.peer == rank_;
  if (!stays) {
    const bool is_far_ahead =
        wave >= kWavesUnderWay &&
        run.links.done(action.peer, run.call) < run.wave_base + wave - kWavesUnderWay + 1;
    if (is_far_ahead || !run.links.can_send(action.peer)) {
      run.waits_for = run.waits_for == rank_ ? action.peer : run.waits_for;
      return false;
    }
  }
  const MessageName name = run.name_of(action, wave);
  Links::Draft draft = run.links.begin(name, bytes, run.call);
  std::byte* to = draft.bytes.data();
  for (std::size_t i = 0; i < action.cargo.size(); ++i) {
    const int chunk = action.chunks.first + static_cast<int>(i);
    std::size_t in_block = 0;
    layout_.for_each_segment(range_of(chunk, wave), [&](const Layout::Segment& piece) {
      const std::size_t size = piece.count * arithmetic_.size_of(action.cargo[i].cell);
      std::memcpy(to, address(run, place, action.cargo[i], wave, chunk, in_block, piece), size);
      to += size;
      in_block += piece.count;
    });
  }
  if (stays)
    run.flights[wave % kWavesUnderWay].inside.emplace_back(name, std::move(draft.block));
  else
    run.links.send(action.peer, std::move(draft));
  return true;
}

bool MessagePlan::receive(Run& run, const Place& place, const Action& action, std::size_t wave) {
  const std::size_t bytes = bytes_of(action, wave);
  if (bytes == 0) return true;
  const MessageName name = run.name_of(action, wave);
  if (action.peer == rank_) {
    auto& inside = run.flights[wave % kWavesUnderWay].inside;
    const auto found = std::ranges::find(inside, name, &std::pair<MessageName, Buffer>::first);
    if (found == inside.end()) return false;
    unpack(run, place, action, wave, found->second.bytes().last(bytes));
    inside.erase(found);
    return true;
  }
  const std::optional<Links::Delivery> delivery = run.links.take(action.peer, name, run.call);
  if (!delivery) {
    if (run.waits_for == rank_) {
      run.waits_for = action.peer;
      run.shown_wave = wave;
    }
    return false;
  }
  if (delivery->bytes.size() != bytes)
    throw PeerFailure(fmt::format("rank {} sent {} bytes instead of {}: {}", action.peer,
                                  delivery->bytes.size(), bytes, run.call.describe()));
  unpack(run, place, action, wave, delivery->bytes);
  return true;
}

void MessagePlan::unpack(Run& run, const Place& place, const Action& action, std::size_t wave,
                         std::span<const std::byte> bytes) {
  const std::byte* from = bytes.data();
  for (std::size_t i = 0; i < action.cargo.size(); ++i) {
    const int chunk = action.chunks.first + static_cast<int>(i);
    std::size_t in_block = 0;
    layout_.for_each_segment(range_of(chunk, wave), [&](const Layout::Segment& piece) {
      const std::size_t size = piece.count * arithmetic_.size_of(action.cargo[i].cell);
      std::memcpy(address(run, place, action.cargo[i], wave, chunk, in_block, piece), from, size);
      from += size;
      in_block += piece.count;
    });
  }
}

void MessagePlan::fold_sources(Run& run, const Place& place, const Action& action,
                               std::size_t wave) {
  const int chunk = action.chunks.first;
  std::size_t in_block = 0;
  layout_.for_each_segment(range_of(chunk, wave), [&](const Layout::Segment& piece) {
    for (std::size_t i = 0; i < action.cargo.size(); ++i)
      operands_[i] = {address(run, place, action.cargo[i], wave, chunk, in_block, piece),
                      action.cargo[i].cell};
    std::byte* const target = address(run, place, action.target, wave, chunk, in_block, piece);
    in_block += piece.count;
    const bool is_copy = action.cargo.size() == 1 &&
                         (only_moves_ || action.cargo.front().cell == action.target.cell);
    if (is_copy) {
      if (target != operands_.front().data)
        std::memcpy(target, operands_.front().data,
                    piece.count * arithmetic_.size_of(action.target.cell));
      return;
    }
    fold(arithmetic_, {.sources = std::span(operands_).first(action.cargo.size()),
                       .group_sizes = action.group_sizes,
                       .targets = {&target, 1},
                       .target_cell = action.target.cell,
                       .count = piece.count});
  });
}

}  // namespace fanin
