#include "schedule/message_program.h"

#include <algorithm>
#include <map>
#include <set>

#include "schedule/goal.h"
#include "schedule/operation_value.h"
#include "schedule/values.h"
#include "schedule/window_program.h"

namespace fanin {
namespace {

using Cargo = MessageProgram::Cargo;

/// Memory of one kind at one place: what nobody reads any more is used again.
class Pool {
 public:
  int take() {
    if (free_.empty()) return count_++;
    const int index = free_.back();
    free_.pop_back();
    return index;
  }
  void give_back(int index) { free_.push_back(index); }
  int count() const { return count_; }

 private:
  std::vector<int> free_;
  int count_ = 0;
};

struct Place {
  std::vector<std::optional<Cargo>> held;  // of each chunk
  std::vector<const Step*> last_writes;    // of each chunk
  Pool scratch;
  Pool slots;
};

/// One source of one step that is elsewhere.
struct Transfer {
  const Step* step;
  int from;
  int shift;  // how many neighbours further
};

class MessageLowering {
 public:
  explicit MessageLowering(const Schedule& schedule)
      : schedule_(schedule), places_(static_cast<std::size_t>(schedule.place_count())) {
    program_.places.resize(places_.size());
    for (Place& place : places_) {
      place.held.resize(static_cast<std::size_t>(schedule.chunk_count));
      place.last_writes.resize(place.held.size());
    }
    const StepIndex steps(schedule);
    for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) look_at(steps, chunk);
  }

  MessageProgram lower() {
    for (const Round& round : schedule_.rounds) lower_round(round);
    for (int rank = 0; rank < schedule_.rank_count; ++rank)
      for (int chunk = 0; chunk < schedule_.chunk_count; ++chunk) give_untouched_input(rank, chunk);
    for (const Place& place : places_) {
      program_.scratch_counts.push_back(place.scratch.count());
      program_.slot_counts.push_back(place.slots.count());
    }
    return std::move(program_);
  }

 private:
  Place& place(int index) { return places_[static_cast<std::size_t>(index)]; }
  std::optional<Cargo>& held(int index, int chunk) {
    return place(index).held[static_cast<std::size_t>(chunk)];
  }
  std::vector<MessageProgram::Action>& actions(int index) {
    return program_.places[static_cast<std::size_t>(index)];
  }

  /// Who holds what at the start, who writes last, and which steps finish.
  void look_at(const StepIndex& steps, int chunk) {
    const ChunkWalk walked = walk(steps, chunk);
    std::set<ValueId> wanted;
    for (int rank = 0; rank < schedule_.rank_count; ++rank) {
      if (holds(schedule_, rank, chunk))
        held(rank, chunk) = {{Ref::Kind::kInput, rank, 0}, Cell::kInput};
      if (wants(schedule_, rank, chunk))
        wanted.insert(walked.at_end[static_cast<std::size_t>(rank)]);
    }
    for (const StepValue& each : walked.steps) {
      place(each.step->to).last_writes[static_cast<std::size_t>(chunk)] = each.step;
      if (wanted.contains(each.result)) finishing_.insert({each.step, chunk});
    }
  }

  /// Whether the step writes what its rank ends with.
  bool writes_output(const Step& step, int chunk) {
    return step.to < schedule_.rank_count && wants(schedule_, step.to, chunk) &&
           place(step.to).last_writes[static_cast<std::size_t>(chunk)] == &step;
  }

  void lower_round(const Round& round) {
    arrived_.clear();
    for (const Transfer& transfer : transfers_of(round)) send(transfer);
    // What is replaced is free only when all have read, and so are the slots of what was added.
    std::vector<std::pair<int, Cargo>> released;
    for (const Step& step : round)
      for (int chunk = step.chunks.first; chunk < step.chunks.last; ++chunk)
        write(step, chunk, released);
    for (const auto& [index, cargo] : released) release(index, cargo);
  }

  std::vector<Transfer> transfers_of(const Round& round) const {
    std::vector<Transfer> transfers;
    for (const Step& step : round)
      for (const int from : std::set<int>(step.sources.begin(), step.sources.end()))
        if (from != step.to)
          transfers.push_back(
              {&step, from,
               (host_of(schedule_, step.to) - host_of(schedule_, from) + schedule_.rank_count) %
                   schedule_.rank_count});
    std::ranges::stable_sort(transfers, {}, &Transfer::shift);
    return transfers;
  }

  /// The receive follows its send before anything else is sent, so in this order one message a link
  /// is enough, and therefore it is in every other one.
  void send(const Transfer& transfer) {
    const Step& step = *transfer.step;
    const int number = message_counts_[{transfer.from, step.to}]++;
    MessageProgram::Send sent{{step.to, number, step.chunks, {}}};
    MessageProgram::Receive received{{transfer.from, number, step.chunks, {}}};
    for (int chunk = step.chunks.first; chunk < step.chunks.last; ++chunk) {
      const Cargo& cargo = *held(transfer.from, chunk);
      const bool is_last =
          step.sources.size() == 1 && cargo.cell == Cell::kResult && writes_output(step, chunk);
      const Ref target = is_last ? Ref{Ref::Kind::kOutput, step.to, 0}
                                 : Ref{Ref::Kind::kSlot, step.to, place(step.to).slots.take()};
      sent.cargo.push_back(cargo);
      received.cargo.push_back({target, cargo.cell});
      arrived_[{&step, chunk, transfer.from}] = received.cargo.back();
    }
    actions(transfer.from).emplace_back(std::move(sent));
    actions(step.to).emplace_back(std::move(received));
  }

  void write(const Step& step, int chunk, std::vector<std::pair<int, Cargo>>& released) {
    std::optional<Cargo>& old = held(step.to, chunk);
    const bool is_output = writes_output(step, chunk);
    if (step.sources.size() == 1 && step.sources.front() == step.to && !is_output) return;

    std::vector<Cargo> sources;
    for (const int source : step.sources)
      sources.push_back(source == step.to ? *old : arrived_.at({&step, chunk, source}));
    const bool stays =
        sources.size() == 1 && (!is_output || sources.front().memory.kind == Ref::Kind::kOutput);
    Cargo made = sources.front();
    if (!stays) {
      made.memory = is_output ? Ref{Ref::Kind::kOutput, step.to, 0}
                              : Ref{Ref::Kind::kScratch, step.to, place(step.to).scratch.take()};
      const bool finishes = finishing_.contains({&step, chunk});
      made.cell = finishes ? Cell::kResult : Cell::kPartial;
      fold(step.to, chunk, sources, made.memory, finishes);
      std::set<int> others(step.sources.begin(), step.sources.end());
      others.erase(step.to);
      for (const int other : others)
        released.emplace_back(step.to, arrived_.at({&step, chunk, other}));
    }
    if (old) released.emplace_back(step.to, *old);
    old = made;
  }

  void fold(int index, int chunk, const std::vector<Cargo>& sources, const Ref& target,
            bool finishes) {
    Operation operation{.targets = {target},
                        .sources = {},
                        .group_sizes = add_n_group_sizes(sources.size()),
                        .finishes = finishes};
    for (const Cargo& source : sources) operation.sources.push_back(source.memory);
    actions(index).emplace_back(MessageProgram::Fold{chunk, std::move(operation)});
  }

  void release(int index, const Cargo& cargo) {
    if (cargo.memory.kind == Ref::Kind::kScratch)
      place(index).scratch.give_back(cargo.memory.index);
    if (cargo.memory.kind == Ref::Kind::kSlot) place(index).slots.give_back(cargo.memory.index);
  }

  /// A rank whose input is what it wants, and that no step wrote, gets it all the same.
  void give_untouched_input(int rank, int chunk) {
    if (wants(schedule_, rank, chunk) &&
        place(rank).last_writes[static_cast<std::size_t>(chunk)] == nullptr)
      fold(rank, chunk, {*held(rank, chunk)}, {Ref::Kind::kOutput, rank, 0}, true);
  }

  const Schedule& schedule_;
  std::vector<Place> places_;
  std::set<std::pair<const Step*, int>> finishing_;             // (step, chunk)
  std::map<std::pair<int, int>, int> message_counts_;           // of each link
  std::map<std::tuple<const Step*, int, int>, Cargo> arrived_;  // (step, chunk, source)
  MessageProgram program_;
};

}  // namespace

MessageProgram lower_to_messages(const Schedule& schedule) {
  return MessageLowering(schedule).lower();
}

}  // namespace fanin
