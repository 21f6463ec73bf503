// The proof of a message program: it is run with expressions in place of data, all places at a
// time, and every link holds at most one message. Each place has one order and each link one sender
// and one receiver, so if it ends in one order of events, it ends in all of them with the same.

#include <fmt/format.h>

#include <deque>
#include <map>

#include "schedule/goal.h"
#include "schedule/message_program.h"
#include "schedule/operation_value.h"
#include "schedule/values.h"

namespace fanin {
namespace {

using Sentence = std::optional<std::string>;
using Message = MessageProgram::Message;

/// What a piece of memory holds, or a message carries, for one chunk.
struct Content {
  int chunk;
  ValueId value;
  Cell cell;
};

struct InFlight {
  const Message* message;
  std::vector<Content> contents;
};

class MessageProof {
 public:
  MessageProof(const MessageProgram& program, const Schedule& schedule)
      : program_(program), schedule_(schedule), next_(program.places.size()) {
    const StepIndex steps(schedule);
    for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) walks_.push_back(walk(steps, chunk));
  }

  Sentence find_error() {
    if (Sentence error = run_all()) return error;
    for (std::size_t place = 0; place < next_.size(); ++place)
      if (next_[place] < program_.places[place].size())
        return fmt::format("it never ends: {} waits forever", name_of(static_cast<int>(place)));
    for (const auto& [link, message] : links_)
      if (message)
        return fmt::format("place {} sends message {} to place {}, which never receives it",
                           link.first, message->message->number, link.second);
    return find_unmet_output();
  }

 private:
  enum class Progress : std::uint8_t { kDone, kMustWait };
  using Link = std::pair<int, int>;  // (from, to)

  std::string name_of(int place) const {
    return fmt::format("place {}, action {}", place, next_[static_cast<std::size_t>(place)]);
  }

  /// Every place goes on until it must wait; who may end the wait of another wakes it.
  Sentence run_all() {
    for (int place = 0; place < schedule_.place_count(); ++place) awake_.push_back(place);
    while (!awake_.empty()) {
      const int place = awake_.front();
      awake_.pop_front();
      const auto& actions = program_.places[static_cast<std::size_t>(place)];
      std::size_t& next = next_[static_cast<std::size_t>(place)];
      while (next < actions.size()) {
        Progress progress = Progress::kDone;
        const Sentence error = std::visit(
            [&](const auto& action) { return run(place, action, progress); }, actions[next]);
        if (error) return fmt::format("{}: {}", name_of(place), *error);
        if (progress == Progress::kMustWait) break;
        ++next;
      }
    }
    return std::nullopt;
  }

  Sentence find_malformed(int place, const Message& message) const {
    const Chunks& chunks = message.chunks;
    if (message.peer < 0 || message.peer >= schedule_.place_count() || message.peer == place)
      return fmt::format("there is no link to place {}", message.peer);
    if (chunks.first < 0 || chunks.first >= chunks.last || chunks.last > schedule_.chunk_count)
      return fmt::format("[{},{}) is not a range of the {} chunks", chunks.first, chunks.last,
                         schedule_.chunk_count);
    if (message.cargo.size() != static_cast<std::size_t>(chunks.last - chunks.first))
      return fmt::format("the message has {} chunks and memory for {}", chunks.last - chunks.first,
                         message.cargo.size());
    return std::nullopt;
  }

  Sentence run(int place, const MessageProgram::Send& send, Progress& progress) {
    if (Sentence error = find_malformed(place, send)) return error;
    std::optional<InFlight>& link = links_[{place, send.peer}];
    if (link) {
      progress = Progress::kMustWait;
      return std::nullopt;
    }
    if (const int expected = sent_counts_[{place, send.peer}]++; send.number != expected)
      return fmt::format("sends message {} to place {} where {} is next", send.number, send.peer,
                         expected);
    InFlight sent{&send, {}};
    for (std::size_t i = 0; i < send.cargo.size(); ++i) {
      Content content{};
      const int chunk = send.chunks.first + static_cast<int>(i);
      if (Sentence error = read(place, chunk, send.cargo[i].memory, content)) return error;
      if (content.cell != send.cargo[i].cell)
        return fmt::format("sends something else of chunk {} than the memory holds", chunk);
      sent.contents.push_back(content);
    }
    link = std::move(sent);
    awake_.push_back(send.peer);
    return std::nullopt;
  }

  Sentence run(int place, const MessageProgram::Receive& receive, Progress& progress) {
    if (Sentence error = find_malformed(place, receive)) return error;
    std::optional<InFlight>& link = links_[{receive.peer, place}];
    if (!link) {
      progress = Progress::kMustWait;
      return std::nullopt;
    }
    const Message& sent = *link->message;
    if (receive.number != sent.number || receive.chunks != sent.chunks)
      return fmt::format(
          "receives message {} with chunks [{},{}) from place {}, which sends message {} with "
          "chunks [{},{})",
          receive.number, receive.chunks.first, receive.chunks.last, receive.peer, sent.number,
          sent.chunks.first, sent.chunks.last);
    for (std::size_t i = 0; i < receive.cargo.size(); ++i) {
      if (receive.cargo[i].cell != link->contents[i].cell)
        return fmt::format("receives something else of chunk {} than place {} sends",
                           link->contents[i].chunk, receive.peer);
      if (Sentence error = write(place, receive.cargo[i].memory, link->contents[i])) return error;
    }
    link.reset();
    awake_.push_back(receive.peer);
    return std::nullopt;
  }

  Sentence run(int place, const MessageProgram::Fold& fold, Progress& /*progress*/) {
    if (fold.chunk < 0 || fold.chunk >= schedule_.chunk_count)
      return fmt::format("there is no chunk {}", fold.chunk);
    const Operation& operation = fold.operation;
    std::vector<ValueId> sources;
    for (const Ref& source : operation.sources) {
      Content content{};
      if (Sentence error = read(place, fold.chunk, source, content)) return error;
      if (content.cell == Cell::kResult && (operation.sources.size() > 1 || !operation.finishes))
        return "something is added to a finished sum";
      sources.push_back(content.value);
    }
    const auto value =
        value_of(operation, sources, walks_[static_cast<std::size_t>(fold.chunk)].values);
    if (!value) return "the groups do not fit the sources";
    const Content made{fold.chunk, *value, operation.finishes ? Cell::kResult : Cell::kPartial};
    for (const Ref& target : operation.targets)
      if (Sentence error = write(place, target, made)) return error;
    return std::nullopt;
  }

  Sentence read(int place, int chunk, const Ref& source, Content& content) const {
    if (source.rank != place) return fmt::format("reads memory of place {}", source.rank);
    if (source.kind == Ref::Kind::kInput) {
      if (place >= schedule_.rank_count || !holds(schedule_, place, chunk))
        return fmt::format("reads an input in chunk {}, where it has none", chunk);
      content = {chunk, place, Cell::kInput};
      return std::nullopt;
    }
    const auto found = memory_.find(key_of(source, chunk));
    if (found == memory_.end()) return fmt::format("reads {} before it is written", text(source));
    content = found->second;
    if (content.chunk != chunk)
      return fmt::format("reads chunk {} from {}, which was used again for chunk {}", chunk,
                         text(source), content.chunk);
    return std::nullopt;
  }

  Sentence write(int place, const Ref& target, const Content& content) {
    if (target.rank != place) return fmt::format("writes memory of place {}", target.rank);
    const auto at = static_cast<std::size_t>(place);
    switch (target.kind) {
      case Ref::Kind::kInput:
        return fmt::format("writes the input of rank {}", place);
      case Ref::Kind::kOutput:
        if (place >= schedule_.rank_count) return "writes an output, but a helper has none";
        if (content.cell != Cell::kResult) return "writes an output that is not finished";
        if (memory_.contains(key_of(target, content.chunk)))
          return fmt::format("writes its output of chunk {} twice", content.chunk);
        break;
      case Ref::Kind::kScratch:
      case Ref::Kind::kSlot: {
        const auto& counts =
            target.kind == Ref::Kind::kSlot ? program_.slot_counts : program_.scratch_counts;
        if (target.index < 0 || target.index >= counts[at])
          return fmt::format("writes {}, which is not counted", text(target));
      }
    }
    memory_.insert_or_assign(key_of(target, content.chunk), content);
    return std::nullopt;
  }

  static std::string text(const Ref& ref) {
    if (ref.kind == Ref::Kind::kOutput) return "an output";
    return fmt::format("{} {}", ref.kind == Ref::Kind::kSlot ? "slot" : "scratch", ref.index);
  }

  /// An output has memory for every chunk; scratch and slots are used for one after the other.
  static Ref key_of(const Ref& ref, int chunk) {
    return ref.kind == Ref::Kind::kOutput ? Ref{ref.kind, ref.rank, chunk} : ref;
  }

  Sentence find_unmet_output() const {
    for (int rank = 0; rank < schedule_.rank_count; ++rank) {
      for (int chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
        if (!wants(schedule_, rank, chunk)) continue;
        const auto found = memory_.find({Ref::Kind::kOutput, rank, chunk});
        if (found == memory_.end())
          return fmt::format("chunk {}: the output of rank {} is never written", chunk, rank);
        if (found->second.value !=
            walks_[static_cast<std::size_t>(chunk)].at_end[static_cast<std::size_t>(rank)])
          return fmt::format("chunk {}: the output of rank {} is another sum than the schedule's",
                             chunk, rank);
      }
    }
    return std::nullopt;
  }

  const MessageProgram& program_;
  const Schedule& schedule_;
  std::vector<ChunkWalk> walks_;   // of each chunk
  std::vector<std::size_t> next_;  // of each place: its next action
  std::deque<int> awake_;          // places that may be able to go on
  std::map<Link, std::optional<InFlight>> links_;
  std::map<Link, int> sent_counts_;
  std::map<Ref, Content> memory_;
};

}  // namespace

std::optional<std::string> find_error(const MessageProgram& program, const Schedule& schedule) {
  const auto place_count = static_cast<std::size_t>(schedule.place_count());
  if (program.places.size() != place_count || program.scratch_counts.size() != place_count ||
      program.slot_counts.size() != place_count)
    return fmt::format("the program is not for {} places", place_count);
  return MessageProof(program, schedule).find_error();
}

}  // namespace fanin
