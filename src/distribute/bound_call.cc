#include "distribute/bound_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/bytes_text.h"
#include "schedule/goal.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

constexpr std::size_t kTinyBytes = (Transport::kMessageWords - 1) * sizeof(std::uint64_t);

// Up to so many bytes every rank sums everything itself: one hop. With two ranks nothing is read
// twice, so that it pays for longer, unless the data is seen.
constexpr std::size_t kSmallBytes = 2 << 10;
constexpr std::size_t kSmallBytesOfTwo = 256 << 10;
// Where ranks share cores a hop costs more than reading twice: up to so many bytes of all together.
constexpr std::size_t kSmallBytesOfAllSharing = 256 << 10;
// From so many bytes on it may be faster to fetch data by the kernel than to go through windows.
constexpr std::size_t kLeastFetchedBytes = 256 << 10;
// Between hosts a hop costs more: up to so many bytes of one rank, and of all together. What one
// says must be short enough for the engine to take it at once, because nobody waits until others
// have received it.
constexpr std::size_t kSmallBytesOfHosts = 12 << 10;
constexpr std::size_t kSmallBytesOfAllHosts = 64 << 10;

/// Up to so many bytes ranks of one host sum everything themselves, unless the data is seen.
std::size_t most_slot_bytes(int rank_count, bool share_cores) {
  if (rank_count == 2) return kSmallBytesOfTwo;
  const std::size_t shared = kSmallBytesOfAllSharing / static_cast<std::size_t>(rank_count);
  return share_cores ? std::max(kSmallBytes, shared) : kSmallBytes;
}

/// At the start of each window: two slots that take turns.
std::size_t slot_bytes(std::size_t window_bytes) {
  return std::min(kSmallBytesOfTwo, window_bytes / 8 / 64 * 64);
}

std::vector<std::size_t> counts_of(const Request& request, const Schedule& schedule) {
  std::vector<std::size_t> counts;
  for (const Request::Item& item : request.items) counts.push_back(item.shape.element_count());
  if (has_parts(schedule.goal)) {
    const std::size_t row = counts.front();
    counts.clear();
    for (int part = 0; part < part_count(schedule.goal, schedule.rank_count); ++part)
      counts.push_back(static_cast<std::size_t>(request.extents.of(part)) * row);
  }
  return counts;
}

Layout layout_of(const std::vector<std::size_t>& counts, const Schedule& schedule,
                 std::size_t element_bytes) {
  if (!has_parts(schedule.goal)) return {counts, schedule.chunk_count, element_bytes};
  const int parts = part_count(schedule.goal, schedule.rank_count);
  return Layout::of_parts(counts, schedule.chunk_count / parts, element_bytes);
}

}  // namespace

std::string describe_ways(int rank_count) {
  const std::string alone = bytes_text(most_slot_bytes(rank_count, false));
  const std::string sharing = bytes_text(most_slot_bytes(rank_count, true));
  return fmt::format(
      "between ranks of one host the algorithm decides the order of the sum, not the way: memory "
      "of Group::allocate() is written by all ranks from {} up; anything else goes in the first "
      "message up to {}, in one hop up to {}{}, by windows above, or from {} up copied from one "
      "process to another where the system allows it and it has been faster",
      bytes_text(kSmallBytes), bytes_text(kTinyBytes), alone,
      sharing == alone ? "" : fmt::format(" ({} where ranks share cores)", sharing),
      bytes_text(kLeastFetchedBytes));
}

BoundCall::BoundCall(Request request, Lane& lane, ScheduleBook& book, FetchHabit& habit,
                     Context& context)
    : request_(std::move(request)),
      fingerprint_(fingerprint_of(request_)),
      arithmetic_(make_arithmetic(request_.op, request_.items.front().dtype, request_.accumulation,
                                  lane.transport().size())),
      schedule_(book.find(request_.algorithm, lane.transport().hosts(), goal_of(request_.operation),
                          request_.root)),
      context_(context),
      counts_(counts_of(request_, schedule_->schedule())),
      layout_(layout_of(counts_, schedule_->schedule(), arithmetic_.size_of(Cell::kInput))),
      input_bytes_(layout_.element_count() * arithmetic_.size_of(Cell::kInput)),
      room_{.window_begin = 2 * slot_bytes(lane.transport().window(0).size()),
            .window_bytes = lane.transport().window(0).size() -
                            2 * slot_bytes(lane.transport().window(0).size()),
            .flag_count = lane.transport().flag_count(),
            .ranks_share_cores = lane.transport().shares_cores()},
      way_(choose(lane.transport())),
      habit_(habit) {
  const int ranks = lane.transport().size();
  if (way_ == Way::kSlot || way_ == Way::kLarge) buffers_.emplace(counts_, arithmetic_, ranks);
  if (way_ == Way::kLarge && input_bytes_ >= kLeastFetchedBytes)
    fetched_.emplace(counts_.size(), ranks);
  if (way_ == Way::kSlot || way_ == Way::kLarge || way_ == Way::kWindow)
    // An algorithm that does not fit is refused before anybody waits.
    window_ = std::make_unique<WindowPlan>(schedule_, layout_, arithmetic_, lane.transport().rank(),
                                           room_, context_);
  if (way_ == Way::kMessage)
    messages_ = std::make_unique<MessagePlan>(schedule_, layout_, arithmetic_,
                                              lane.transport().rank(), context_);
  if (way_ == Way::kLarge || way_ == Way::kWindow || way_ == Way::kMessage) return;
  bind_seen(lane);
  memory_ = std::make_unique<MemoryPlan>(
      std::array{
          MemoryPart{&schedule_->schedule(), layout_,
                     &schedule_->memory(Outputs::kShared, most_nested_sources(arithmetic_))}},
      arithmetic_, Outputs::kShared, context_);
}

BoundCall::Way BoundCall::choose(Transport& transport) const {
  const int rank_count = transport.size();
  const bool has_links = transport.links() != nullptr;
  if (request_.operation != Request::Operation::kAllReduce)
    return has_links ? Way::kMessage : Way::kWindow;
  if (rank_count == 1) return Way::kAlone;
  if (input_bytes_ <= kTinyBytes) return Way::kTiny;
  const std::size_t slot = room_.window_begin / 2;
  const std::size_t small =
      has_links ? std::min(kSmallBytesOfHosts,
                           kSmallBytesOfAllHosts / static_cast<std::size_t>(rank_count))
                : kSmallBytes;
  if (input_bytes_ <= std::min(small, slot)) return Way::kSmall;
  if (has_links) return Way::kMessage;
  const std::size_t most = std::min(most_slot_bytes(rank_count, transport.shares_cores()), slot);
  return input_bytes_ <= most ? Way::kSlot : Way::kLarge;
}

std::byte* BoundCall::slot(Lane& lane, int rank, int turn) const {
  return lane.transport().window(rank).data() +
         room_.window_begin / 2 * static_cast<std::size_t>(turn);
}

void BoundCall::bind_seen(Lane& lane) {
  for (int turn = 0; turn < 2; ++turn)
    for (int rank = 0; rank < lane.transport().size(); ++rank) {
      const std::byte* at =
          way_ == Way::kTiny ? lane.word_bytes(rank, turn) : slot(lane, rank, turn);
      for (const std::size_t count : counts_) {
        seen_[static_cast<std::size_t>(turn)].push_back(at);
        at += count * arithmetic_.size_of(Cell::kInput);
      }
    }
}

/// Into a slot.
void BoundCall::gather(std::span<const std::byte* const> inputs, std::byte* to) {
  const auto [store, is_timed] =
      way_ == Way::kSlot ? slot_store_.next() : SlotStore::Choice{Store::kCached, false};
  const Deadline begin = is_timed ? Clock::now() : Deadline();
  for (std::size_t tensor = 0; tensor < counts_.size(); ++tensor) {
    const std::size_t bytes = counts_[tensor] * arithmetic_.size_of(Cell::kInput);
    copy({to, bytes}, {inputs[tensor], bytes}, store);
    to += bytes;
  }
  if (is_timed)
    slot_store_.tell(store, std::chrono::duration<double>(Clock::now() - begin).count(),
                     input_bytes_);
}

Lane::Entry BoundCall::first_message(Lane& lane, const Ticket& ticket,
                                     std::span<const std::byte* const> inputs,
                                     std::span<std::byte* const> outputs, const Call& call) {
  Lane::Entry entry;
  Transport& transport = lane.transport();
  if (way_ == Way::kTiny) {
    auto* to = reinterpret_cast<std::byte*>(entry.words.data());
    for (std::size_t tensor = 0; tensor < counts_.size(); ++tensor) {
      const std::size_t bytes = counts_[tensor] * arithmetic_.size_of(Cell::kInput);
      if (bytes > 0) std::memcpy(to, inputs[tensor], bytes);
      to += bytes;
    }
    entry.word_count = (input_bytes_ + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    return entry;
  }
  entry.word_count = buffers_ ? 1 : 0;
  if (buffers_) {
    if (call.is_alone) entry.words[0] |= kToldAlone;
    if (const auto told = buffers_->tell(transport, note_of_places(lane, transport.rank(), ticket),
                                         inputs, outputs)) {
      has_told_ = true;
      entry.words[0] |= kToldPlaces;
      std::ranges::copy(*told, entry.words.begin() + 1);
      entry.word_count += told->size();
    }
  }
  if (fetched_ && !has_told_ && transport.can_fetch()) {
    if (const auto told =
            fetched_->tell(note_of_places(lane, transport.rank(), ticket), inputs, outputs)) {
      entry.words[0] |= kToldAddresses;
      std::ranges::copy(*told, entry.words.begin() + 1);
      entry.word_count += told->size();
    }
    choice_ = habit_.next(input_bytes_);
    if (choice_.fetches) entry.words[0] |= kWantsToFetch;
  }
  if (way_ == Way::kSmall || (way_ == Way::kSlot && !has_told_)) {
    std::byte* const to = slot(lane, transport.rank(), Lane::turn(ticket));
    gather(inputs, to);
    entry.attached = {to, input_bytes_};
  }
  return entry;
}

/// Of one tensor nothing is told by notes, so that they need not be found.
std::span<std::byte> BoundCall::note_of_places(Lane& lane, int rank, const Ticket& ticket) const {
  return counts_.size() == 1 ? std::span<std::byte>() : lane.note(rank, ticket);
}

/// Every rank sums what all have said, or put into their slots.
void BoundCall::run_small(Lane& lane, const Ticket& ticket,
                          std::span<const std::byte* const> inputs,
                          std::span<std::byte* const> outputs) {
  std::vector<const std::byte*>& seen = seen_[static_cast<std::size_t>(Lane::turn(ticket))];
  const auto rank = static_cast<std::size_t>(lane.transport().rank());
  std::ranges::copy(inputs, &seen[rank * counts_.size()]);
  memory_->run_here(0, layout_.element_count(), seen, outputs, Store::kCached);
}

int BoundCall::count_who_told(std::uint64_t what, const Lane& lane, const Ticket& ticket) const {
  int count = 0;
  for (int rank = 0; rank < schedule_->schedule().rank_count; ++rank)
    if ((lane.word(rank, ticket, 0) & what) != 0) ++count;
  return count;
}

/// Directly if all have told where their data is.
void BoundCall::run_seen(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                         std::span<std::byte* const> outputs, Call& call) {
  Transport& transport = lane.transport();
  const int told_count = count_who_told(kToldPlaces, lane, ticket);
  if (told_count == transport.size()) {
    for (int rank = 0; rank < transport.size(); ++rank)
      buffers_->read(
          transport, rank, note_of_places(lane, rank, ticket),
          {lane.word(rank, ticket, 1), lane.word(rank, ticket, 2), lane.word(rank, ticket, 3)});
    if (!visible_)
      visible_ = std::make_unique<VisiblePlan>(schedule_, layout_, arithmetic_, transport.rank(),
                                               context_);
    visible_->run(transport, lane.wave_base(), buffers_->look_up(transport), call);
  } else if (told_count == 0 && way_ == Way::kSlot) {
    run_small(lane, ticket, inputs, outputs);
  } else {
    run_unseen(lane, ticket, inputs, outputs, call);
  }
}

/// By fetching, if everybody can and the first rank has found it to be faster; else by windows.
void BoundCall::run_unseen(Lane& lane, const Ticket& ticket,
                           std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs, Call& call) {
  Transport& transport = lane.transport();
  const bool can_choose = count_who_told(kToldAddresses, lane, ticket) == transport.size();
  const bool fetches = can_choose && (lane.word(0, ticket, 0) & kWantsToFetch) != 0;
  const bool is_timed = can_choose && transport.rank() == 0 && choice_.is_timed;
  const Deadline begin = is_timed ? Clock::now() : Deadline();
  if (fetches) {
    run_fetching(lane, ticket, inputs, outputs, call);
  } else {
    // Who is alone in this operation has left the one before, and is not yet in the next.
    const bool are_alone = count_who_told(kToldAlone, lane, ticket) == transport.size();
    window_->run(transport, lane.wave_base(), inputs, outputs, call,
                 are_alone ? lane.common_windows() : nullptr);
  }
  if (is_timed)
    habit_.tell(input_bytes_, fetches, std::chrono::duration<double>(Clock::now() - begin).count());
}

void BoundCall::run_fetching(Lane& lane, const Ticket& ticket,
                             std::span<const std::byte* const> inputs,
                             std::span<std::byte* const> outputs, Call& call) {
  Transport& transport = lane.transport();
  for (int rank = 0; rank < transport.size(); ++rank)
    fetched_->read(rank, note_of_places(lane, rank, ticket),
                   {lane.word(rank, ticket, 1), lane.word(rank, ticket, 2)});
  if (!fetch_)
    fetch_ =
        std::make_unique<FetchPlan>(schedule_, layout_, arithmetic_, transport.rank(), context_);
  fetch_->run(transport, lane.wave_base(), fetched_->look_up(inputs, outputs), call);
}

void BoundCall::run(Lane& lane, const Ticket& ticket, std::optional<std::int64_t> step,
                    std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                    Call& call) {
  if (way_ == Way::kAlone) {
    memory_->run(inputs, outputs);
    return;
  }
  Transport& transport = lane.transport();
  has_told_ = false;
  lane.begin(ticket, call);
  Lane::Entry entry = first_message(lane, ticket, inputs, outputs, call);
  entry.fingerprint = fingerprint_of(fingerprint_, step);
  if (!lane.enter(ticket, entry, call)) [[unlikely]]
    lane.compare(ticket, to_note(request_, step, lane.note(0, ticket).size() / 2), call);
  if (call.place != nullptr) call.place->enter();
  switch (way_) {
    case Way::kTiny:
    case Way::kSmall:
      run_small(lane, ticket, inputs, outputs);
      break;
    case Way::kSlot:
    case Way::kLarge:
      run_seen(lane, ticket, inputs, outputs, call);
      break;
    default:
      move(lane, inputs, outputs, call);
  }
  require_epoch(transport, call);
}

void BoundCall::move(Lane& lane, std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> outputs, Call& call) {
  if (messages_)
    messages_->run(lane.transport(), lane.wave_base(), inputs, outputs, call);
  else
    window_->run(lane.transport(), lane.wave_base(), inputs, outputs, call);
}

void BoundCall::give_up(Lane& lane, std::span<std::byte* const> outputs) {
  if (has_told_) buffers_->give_up(lane.transport(), outputs);
  has_told_ = false;
}

void BoundCall::run_entered(Lane& lane, std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, Call& call) {
  if (call.place != nullptr) call.place->enter();
  move(lane, inputs, outputs, call);
  require_epoch(lane.transport(), call);
}

}  // namespace fanin
