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
// From so many bytes on there are other ways beside windows, and which is the fastest is found out.
constexpr std::size_t kLeastUnseenBytes = 256 << 10;
// Between hosts a hop costs more: up to so many bytes of one rank, and of all together, or of all
// of one host where only its sum goes to others. What one says must be short enough for the engine
// to take it at once, because nobody waits until others have received it.
constexpr std::size_t kSmallBytesOfHosts = 12 << 10;
constexpr std::size_t kSmallBytesOfAllHosts = 64 << 10;
// Unless only the sum of a host does, what neighbours have crosses the wire too: up to so many
// bytes that takes less time than another hop.
constexpr std::size_t kSmallBytesOfNeighbours = 4 << 10;

/// Up to so many bytes ranks of one host sum everything themselves, unless the data is seen.
std::size_t most_slot_bytes(int rank_count, bool share_cores) {
  if (rank_count == 2) return kSmallBytesOfTwo;
  const std::size_t shared = kSmallBytesOfAllSharing / static_cast<std::size_t>(rank_count);
  return share_cores ? std::max(kSmallBytes, shared) : kSmallBytes;
}

/// Up to so many bytes what ranks that see nothing of each other have goes with the first message.
std::size_t most_said_bytes(const std::vector<int>& hosts, bool sums_hosts) {
  std::size_t largest = 1;  // host
  for (const int host : hosts)
    largest = std::max(largest, static_cast<std::size_t>(std::ranges::count(hosts, host)));
  if (sums_hosts) return std::min(kSmallBytesOfHosts, kSmallBytesOfAllHosts / largest);
  const std::size_t most = std::min(kSmallBytesOfHosts, kSmallBytesOfAllHosts / hosts.size());
  if (largest == 1 || largest == hosts.size()) return most;
  return std::min(most, kSmallBytesOfNeighbours / (largest - 1));
}

/// At the start of each window: two slots that take turns.
std::size_t slot_bytes(std::size_t window_bytes) {
  return std::min(kSmallBytesOfTwo, window_bytes / 8 / 64 * 64);
}

/// Where the rest of each window begins.
std::vector<std::byte*> rooms_in(Transport& transport, std::size_t slot_bytes) {
  std::vector<std::byte*> rooms(static_cast<std::size_t>(transport.size()));
  for (int rank = 0; rank < transport.size(); ++rank)
    rooms[static_cast<std::size_t>(rank)] = transport.window(rank).data() + 2 * slot_bytes;
  return rooms;
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
      "message up to {}, in one hop up to {}{}, by windows above; from {} up by what has been the "
      "fastest: windows, pads that all ranks write, or copying from one process to another where "
      "the system allows it",
      bytes_text(kSmallBytes), bytes_text(kTinyBytes), alone,
      sharing == alone ? "" : fmt::format(" ({} where ranks share cores)", sharing),
      bytes_text(kLeastUnseenBytes));
}

BoundCall::BoundCall(Request request, Lane& lane, ScheduleBook& book, Pad& pad, UnseenHabit& habit,
                     Context& context)
    : request_(std::move(request)),
      fingerprint_(fingerprint_of(request_)),
      arithmetic_(make_arithmetic(request_.op, request_.items.front().dtype, request_.accumulation,
                                  lane.transport().size())),
      schedule_(book.find(
          request_.algorithm,
          levels_for(request_.algorithm, {lane.transport().hosts(), lane.transport().cores()}),
          goal_of(request_.operation), request_.root)),
      context_(context),
      counts_(counts_of(request_, schedule_->schedule())),
      layout_(layout_of(counts_, schedule_->schedule(), arithmetic_.size_of(Cell::kInput))),
      input_bytes_(layout_.element_count() * arithmetic_.size_of(Cell::kInput)),
      slot_bytes_(slot_bytes(lane.transport().window(0).size())),
      room_{.bytes_of_rank = lane.transport().window(0).size() - 2 * slot_bytes_,
            .flag_count = lane.transport().flag_count(),
            .ranks_share_cores = lane.transport().shares_cores()},
      sums_hosts_(HostSums::fit(request_, arithmetic_, lane.transport())),
      way_(choose(lane.transport())),
      trades_(way_ == Way::kSlot && lane.transport().size() == 2 &&
              2 * slot_bytes_ <= lane.transport().shelf(0).size()),
      habit_(habit) {
  const int ranks = lane.transport().size();
  if (way_ == Way::kSlot || way_ == Way::kLarge) buffers_.emplace(counts_, arithmetic_, ranks);
  if (way_ == Way::kLarge && input_bytes_ >= kLeastUnseenBytes) {
    fetched_.emplace(counts_.size(), ranks);
    if (WindowPlan::can_share_places(arithmetic_)) bind_pads(lane, pad);
  }
  if (way_ == Way::kSlot || way_ == Way::kLarge || way_ == Way::kWindow) {
    // An algorithm that does not fit is refused before anybody waits.
    window_ = std::make_unique<WindowPlan>(schedule_, layout_, arithmetic_, lane.transport().rank(),
                                           room_, context_);
    rooms_ = rooms_in(lane.transport(), slot_bytes_);
    if (lane.common_windows() != nullptr)
      common_rooms_ = rooms_in(*lane.common_windows(), slot_bytes_);
  }
  if (way_ == Way::kMessage)
    messages_ = std::make_unique<MessagePlan>(schedule_, layout_, arithmetic_,
                                              lane.transport().rank(), context_);
  if (way_ == Way::kLarge || way_ == Way::kWindow || way_ == Way::kMessage) return;
  bind_seen(lane);
  if (way_ == Way::kSmall && sums_hosts_)
    host_sums_.emplace(request_, arithmetic_, lane.transport(), counts_, book, context_);
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
  std::size_t small = kSmallBytes;
  if (has_links) small = most_said_bytes(transport.hosts(), sums_hosts_);
  if (input_bytes_ <= std::min(small, slot_bytes_)) return Way::kSmall;
  if (has_links) return Way::kMessage;
  const std::size_t most =
      std::min(most_slot_bytes(rank_count, transport.shares_cores()), slot_bytes_);
  return input_bytes_ <= most ? Way::kSlot : Way::kLarge;
}

/// The first operation of an epoch does not use shelves, where others may still write who have not
/// come back from an earlier one.
BoundCall::Slots BoundCall::slots_of(Lane& lane, const Ticket& ticket) const {
  Slots slots{.turn = static_cast<std::size_t>(Lane::turn(ticket))};
  if (trades_ && lane.have_met())
    slots.place =
        lane.trade_count(ticket) % 2 == 0 ? Slots::Place::kShelf : Slots::Place::kShelfOfOther;
  return slots;
}

std::byte* BoundCall::slot(Lane& lane, int rank, Slots slots) const {
  Transport& transport = lane.transport();
  const std::size_t offset = slot_bytes_ * slots.turn;
  switch (slots.place) {
    case Slots::Place::kShelf:
      return transport.shelf(rank).data() + offset;
    case Slots::Place::kShelfOfOther:
      return transport.shelf(1 - rank).data() + offset;
    case Slots::Place::kWindow:
      break;
  }
  return transport.window(rank).data() + offset;
}

void BoundCall::bind_seen(Lane& lane) {
  using enum Slots::Place;
  for (const Slots::Place place : {kWindow, kShelf, kShelfOfOther})
    for (std::size_t turn = 0; turn < Slots::kTurns; ++turn) {
      if (place != kWindow && !trades_) return;
      const Slots slots{.place = place, .turn = turn};
      for (int rank = 0; rank < lane.transport().size(); ++rank) {
        const std::byte* at = way_ == Way::kTiny ? lane.word_bytes(rank, static_cast<int>(turn))
                                                 : slot(lane, rank, slots);
        for (const std::size_t count : counts_) {
          seen_[slots.index()].push_back(at);
          at += count * arithmetic_.size_of(Cell::kInput);
        }
      }
    }
}

/// An algorithm that does not fit into them goes by windows, which are larger.
void BoundCall::bind_pads(Lane& lane, Pad& pad) {
  WindowPlan::Room room = room_;
  room.bytes_of_rank = Pad::kBytesOfLane;
  room.is_shared = true;
  try {
    pad_plan_ = std::make_unique<WindowPlan>(schedule_, layout_, arithmetic_,
                                             lane.transport().rank(), room, context_);
  } catch (const InvalidArgument&) {
    return;
  }
  pads_.emplace(pad, lane.index(), lane.transport().size());
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
  if (fetched_ && !has_told_) tell_unseen(lane, ticket, inputs, outputs, entry);
  if (way_ == Way::kSmall || (way_ == Way::kSlot && !has_told_)) {
    std::byte* const to = slot(lane, transport.rank(), slots_);
    gather(inputs, to);
    entry.attached = {to, input_bytes_};
    if (host_sums_) entry.sum = host_sums_->of_this_host();
  }
  return entry;
}

/// What the ways beside windows need; the first rank also says which it is.
void BoundCall::tell_unseen(Lane& lane, const Ticket& ticket,
                            std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, Lane::Entry& entry) {
  Transport& transport = lane.transport();
  const auto tell = [&](std::uint64_t what, std::size_t first, const auto& words) {
    entry.words[0] |= what;
    std::ranges::copy(words, entry.words.begin() + first);
    entry.word_count = std::max(entry.word_count, first + words.size());
  };
  UnseenHabit::Possible possible;
  if (transport.can_fetch())
    if (const auto told =
            fetched_->tell(note_of_places(lane, transport.rank(), ticket), inputs, outputs)) {
      tell(kToldAddresses, kAddressWords, *told);
      possible.fetch = true;
    }
  if (pads_)
    if (const auto told = pads_->tell(transport)) {
      tell(kToldPad, kPadWords, *told);
      possible.pads = has_told_pad_ = true;
    }
  if (transport.rank() != 0) return;
  choice_ = habit_.next(input_bytes_, possible);
  if (choice_.way == UnseenWay::kFetch) entry.words[0] |= kWantsToFetch;
  if (choice_.way == UnseenWay::kPads) entry.words[0] |= kWantsPads;
}

/// Of one tensor nothing is told by notes, so that they need not be found.
std::span<std::byte> BoundCall::note_of_places(Lane& lane, int rank, const Ticket& ticket) const {
  return counts_.size() == 1 ? std::span<std::byte>() : lane.note(rank, ticket);
}

/// Every rank sums what all have said, or put into their slots.
void BoundCall::run_small(Lane& lane, const Ticket& ticket,
                          std::span<const std::byte* const> inputs,
                          std::span<std::byte* const> outputs) {
  std::vector<const std::byte*>& seen = seen_[slots_.index()];
  const auto rank = static_cast<std::size_t>(lane.transport().rank());
  std::ranges::copy(inputs, &seen[rank * counts_.size()]);
  if (host_sums_ && host_sums_->run(lane, ticket, slot_bytes_ * slots_.turn, seen, outputs)) return;
  memory_->run_here(0, layout_.element_count(), seen, outputs, Store::kCached);
}

bool BoundCall::have_all_told(std::uint64_t what, const Lane& lane, const Ticket& ticket) const {
  for (int rank = 0; rank < schedule_->schedule().rank_count; ++rank)
    if ((lane.word(rank, ticket, 0) & what) == 0) return false;
  return true;
}

bool BoundCall::has_anyone_told(std::uint64_t what, const Lane& lane, const Ticket& ticket) const {
  for (int rank = 0; rank < schedule_->schedule().rank_count; ++rank)
    if ((lane.word(rank, ticket, 0) & what) != 0) return true;
  return false;
}

/// Directly if all have told where their data is.
void BoundCall::run_seen(Lane& lane, const Ticket& ticket, std::span<const std::byte* const> inputs,
                         std::span<std::byte* const> outputs, Call& call) {
  Transport& transport = lane.transport();
  if (have_all_told(kToldPlaces, lane, ticket)) {
    for (int rank = 0; rank < transport.size(); ++rank)
      buffers_->read(
          transport, rank, note_of_places(lane, rank, ticket),
          {lane.word(rank, ticket, 1), lane.word(rank, ticket, 2), lane.word(rank, ticket, 3)});
    if (!visible_)
      visible_ = std::make_unique<VisiblePlan>(schedule_, layout_, arithmetic_, transport.rank(),
                                               context_);
    visible_->run(transport, lane.wave_base(), buffers_->look_up(transport), call);
  } else if (way_ == Way::kSlot && !has_anyone_told(kToldPlaces, lane, ticket)) {
    run_small(lane, ticket, inputs, outputs);
    ++lane.trade_count(ticket);
  } else {
    run_unseen(lane, ticket, inputs, outputs, call);
  }
}

/// As the first rank says, if everybody has told what that needs; else by windows.
UnseenWay BoundCall::unseen_way(const Lane& lane, const Ticket& ticket) const {
  const std::uint64_t wanted = lane.word(0, ticket, 0);
  if ((wanted & kWantsToFetch) != 0 && have_all_told(kToldAddresses, lane, ticket))
    return UnseenWay::kFetch;
  if ((wanted & kWantsPads) != 0 && have_all_told(kToldPad, lane, ticket)) return UnseenWay::kPads;
  return UnseenWay::kWindows;
}

void BoundCall::run_unseen(Lane& lane, const Ticket& ticket,
                           std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs, Call& call) {
  // Who is alone in this operation has left the one before, and is not yet in the next.
  const bool are_alone = have_all_told(kToldAlone, lane, ticket);
  const UnseenWay way = unseen_way(lane, ticket);
  const bool is_timed = choice_.is_timed && choice_.way == way;
  const Deadline begin = is_timed ? Clock::now() : Deadline();
  switch (way) {
    case UnseenWay::kFetch:
      run_fetching(lane, ticket, inputs, outputs, call);
      break;
    case UnseenWay::kPads:
      run_on_pads(lane, ticket, inputs, outputs, call, are_alone);
      break;
    case UnseenWay::kWindows:
      run_windows(lane, inputs, outputs, call, are_alone);
  }
  if (is_timed)
    habit_.tell(input_bytes_, choice_, std::chrono::duration<double>(Clock::now() - begin).count());
}

void BoundCall::run_windows(Lane& lane, std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, Call& call, bool are_alone) {
  const bool in_common = are_alone && !common_rooms_.empty();
  window_->run(lane.transport(), lane.wave_base(), inputs, outputs, call,
               {in_common ? common_rooms_ : rooms_});
}

void BoundCall::run_on_pads(Lane& lane, const Ticket& ticket,
                            std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, Call& call, bool are_alone) {
  Transport& transport = lane.transport();
  for (int rank = 0; rank < transport.size(); ++rank)
    pads_->read(transport, rank,
                {lane.word(rank, ticket, kPadWords), lane.word(rank, ticket, kPadWords + 1)});
  pad_plan_->run(transport, lane.wave_base(), inputs, outputs, call, pads_->look_up(are_alone));
}

void BoundCall::run_fetching(Lane& lane, const Ticket& ticket,
                             std::span<const std::byte* const> inputs,
                             std::span<std::byte* const> outputs, Call& call) {
  Transport& transport = lane.transport();
  for (int rank = 0; rank < transport.size(); ++rank)
    fetched_->read(
        rank, note_of_places(lane, rank, ticket),
        {lane.word(rank, ticket, kAddressWords), lane.word(rank, ticket, kAddressWords + 1)});
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
  has_told_ = has_told_pad_ = false;
  is_alone_ = call.is_alone;
  choice_ = {};
  lane.begin(ticket, call);
  slots_ = slots_of(lane, ticket);
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
    run_windows(lane, inputs, outputs, call, false);
}

void BoundCall::give_up(Lane& lane, std::span<std::byte* const> outputs) {
  if (has_told_) buffers_->give_up(lane.transport(), outputs);
  if (has_told_pad_) pads_->give_up(lane.transport(), is_alone_);
  has_told_ = has_told_pad_ = false;
}

void BoundCall::run_entered(Lane& lane, std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, Call& call) {
  if (call.place != nullptr) call.place->enter();
  move(lane, inputs, outputs, call);
  require_epoch(lane.transport(), call);
}

}  // namespace fanin
