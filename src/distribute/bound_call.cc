#include "distribute/bound_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "distribute/visible_address.h"
#include "transports/epoch.h"

namespace fanin {
namespace {

constexpr std::size_t kTinyBytes = (Transport::kMessageWords - 1) * sizeof(std::uint64_t);

// Up to so many bytes every rank sums everything itself: one hop. With two ranks nothing is read
// twice, so that it pays for longer.
constexpr std::size_t kSmallBytes = 2 << 10;
constexpr std::size_t kSmallBytesOfTwo = 64 << 10;

/// At the start of each window: two slots that take turns.
std::size_t slot_bytes(std::size_t window_bytes) {
  return std::min(kSmallBytesOfTwo, window_bytes / 8 / 64 * 64);
}

Goal goal_of(Request::Operation operation) {
  switch (operation) {
    case Request::Operation::kReduce:
      return Goal::kReduce;
    case Request::Operation::kBroadcast:
      return Goal::kBroadcast;
    case Request::Operation::kAllGather:
      return Goal::kAllGather;
    default:
      return Goal::kAllReduce;
  }
}

std::vector<std::size_t> counts_of(const Request& request, const BoundCall::Extents& extents) {
  std::vector<std::size_t> counts;
  for (const Request::Item& item : request.items) counts.push_back(item.shape.element_count());
  if (request.operation == Request::Operation::kAllGather) {
    const std::size_t row = counts.front();
    counts.clear();
    for (const std::uint64_t extent : extents) counts.push_back(extent * row);
  }
  return counts;
}

Layout layout_of(const Request& request, const std::vector<std::size_t>& counts,
                 const Schedule& schedule, std::size_t element_bytes) {
  if (request.operation == Request::Operation::kAllGather)
    return Layout::of_parts(counts, schedule.chunk_count / schedule.rank_count, element_bytes);
  return {counts, schedule.chunk_count, element_bytes};
}

}  // namespace

BoundCall::BoundCall(Request request, Extents extents, Lane& lane, ScheduleBook& book,
                     Context& context)
    : request_(std::move(request)),
      extents_(std::move(extents)),
      fingerprint_(fingerprint_of(request_)),
      arithmetic_(make_arithmetic(request_.op, request_.items.front().dtype, request_.accumulation,
                                  lane.transport().size())),
      schedule_(book.find(request_.algorithm, lane.transport().size(), goal_of(request_.operation),
                          request_.root)),
      context_(context),
      counts_(counts_of(request_, extents_)),
      layout_(
          layout_of(request_, counts_, schedule_->schedule(), arithmetic_.size_of(Cell::kInput))),
      input_bytes_(layout_.element_count() * arithmetic_.size_of(Cell::kInput)),
      room_{.window_begin = 2 * slot_bytes(lane.transport().window(0).size()),
            .window_bytes = lane.transport().window(0).size() -
                            2 * slot_bytes(lane.transport().window(0).size()),
            .flag_count = lane.transport().flag_count()},
      way_(choose(lane.transport().size())) {
  const auto ranks = static_cast<std::size_t>(lane.transport().size());
  const std::size_t tensors = layout_.tensor_count();
  all_inputs_.resize(ranks * tensors);
  all_outputs_.resize(ranks * tensors);
  if (way_ == Way::kTiny) tiny_.resize(ranks * (Transport::kMessageWords - 1));
  if (way_ == Way::kWindow || way_ == Way::kLarge) {
    // An algorithm that does not fit is refused before anybody waits.
    window_ = std::make_unique<WindowPlan>(schedule_, layout_, arithmetic_, lane.transport().rank(),
                                           room_, context_);
    return;
  }
  memory_ = std::make_unique<MemoryPlan>(
      std::array{MemoryPart{&schedule_->schedule(), layout_,
                            &schedule_->shared_memory(most_nested_sources(arithmetic_))}},
      arithmetic_, Outputs::kShared, context_);
}

BoundCall::Way BoundCall::choose(int rank_count) const {
  if (request_.operation != Request::Operation::kAllReduce) return Way::kWindow;
  if (rank_count == 1) return Way::kAlone;
  if (input_bytes_ <= kTinyBytes) return Way::kTiny;
  const std::size_t most =
      std::min(rank_count == 2 ? kSmallBytesOfTwo : kSmallBytes, room_.window_begin / 2);
  return input_bytes_ <= most ? Way::kSmall : Way::kLarge;
}

std::span<std::byte> BoundCall::small_slot(Lane& lane, int rank, const Ticket& ticket) {
  const std::size_t bytes = room_.window_begin / 2;
  return lane.transport().window(rank).subspan(bytes * static_cast<std::size_t>(Lane::turn(ticket)),
                                               bytes);
}

void BoundCall::gather(std::span<const std::byte* const> inputs, std::byte* to) const {
  for (std::size_t tensor = 0; tensor < counts_.size(); ++tensor) {
    const std::size_t bytes = counts_[tensor] * arithmetic_.size_of(Cell::kInput);
    copy({to, bytes}, {inputs[tensor], bytes}, Store::kCached);
    to += bytes;
  }
}

void BoundCall::sum_all(std::span<const std::byte* const> rows,
                        std::span<const std::byte* const> inputs, int rank,
                        std::span<std::byte* const> outputs) {
  const std::size_t tensors = counts_.size();
  for (std::size_t each = 0; each < rows.size(); ++each) {
    const std::byte* row = rows[each];
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      const bool is_mine = std::cmp_equal(each, rank);
      all_inputs_[each * tensors + tensor] = is_mine ? inputs[tensor] : row;
      row += counts_[tensor] * arithmetic_.size_of(Cell::kInput);
    }
  }
  memory_->run_here(0, layout_.element_count(), all_inputs_, outputs);
}

Lane::Entry BoundCall::first_message(Lane& lane, const Ticket& ticket,
                                     std::span<const std::byte* const> inputs,
                                     std::span<std::byte* const> outputs) {
  Lane::Entry entry;
  Transport& transport = lane.transport();
  if (way_ == Way::kTiny) {
    std::array<std::byte, kTinyBytes> bytes{};
    gather(inputs, bytes.data());
    std::memcpy(entry.words.data(), bytes.data(), kTinyBytes);
  } else if (way_ == Way::kSmall) {
    gather(inputs, small_slot(lane, transport.rank(), ticket).data());
  } else if (way_ == Way::kLarge) {
    const bool is_told = tell_addresses(transport, lane.note(transport.rank(), ticket), inputs,
                                        outputs, counts_, arithmetic_);
    entry.words[0] = is_told ? 1 : 0;
  }
  return entry;
}

/// Whether all ranks see the data of all, which is then in all_inputs_ and all_outputs_.
bool BoundCall::find_visible(Lane& lane, const Ticket& ticket) {
  Transport& transport = lane.transport();
  for (int rank = 0; rank < transport.size(); ++rank)
    if (lane.word(rank, ticket, 0) == 0) return false;
  const std::size_t tensors = counts_.size();
  for (int rank = 0; rank < transport.size(); ++rank) {
    const std::size_t first = static_cast<std::size_t>(rank) * tensors;
    read_addresses(transport, rank, lane.note(rank, ticket), counts_, arithmetic_,
                   std::span(all_inputs_).subspan(first, tensors),
                   std::span(all_outputs_).subspan(first, tensors));
  }
  return true;
}

void BoundCall::run(Lane& lane, const Ticket& ticket, std::optional<std::int64_t> step,
                    std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                    Call& call) {
  if (way_ == Way::kAlone) {
    memory_->run(inputs, outputs);
    return;
  }
  Transport& transport = lane.transport();
  lane.begin(ticket, call);
  Lane::Entry entry = first_message(lane, ticket, inputs, outputs);
  entry.fingerprint = fingerprint_of(fingerprint_, step);
  if (!lane.enter(ticket, entry, call)) [[unlikely]]
    lane.compare(ticket, to_note(request_, step, lane.note(0, ticket).size() / 2), call);

  const auto ranks = static_cast<std::size_t>(transport.size());
  if (way_ == Way::kTiny || way_ == Way::kSmall) {
    constexpr std::size_t kWords = Transport::kMessageWords - 1;
    std::array<const std::byte*, 64> few;
    std::vector<const std::byte*> many(ranks > few.size() ? ranks : 0);
    const std::span<const std::byte*> rows = many.empty() ? std::span(few).first(ranks) : many;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (way_ == Way::kSmall) {
        rows[rank] = small_slot(lane, static_cast<int>(rank), ticket).data();
        continue;
      }
      for (std::size_t i = 0; i * sizeof(std::uint64_t) < input_bytes_; ++i)
        tiny_[rank * kWords + i] = lane.word(static_cast<int>(rank), ticket, i);
      rows[rank] = reinterpret_cast<const std::byte*>(&tiny_[rank * kWords]);
    }
    sum_all(rows, inputs, transport.rank(), outputs);
  } else if (way_ == Way::kLarge && find_visible(lane, ticket)) {
    if (!visible_)
      visible_ = std::make_unique<VisiblePlan>(schedule_, layout_, arithmetic_, transport.rank(),
                                               context_);
    visible_->run(transport, lane.wave_base(), all_inputs_, all_outputs_, call);
  } else {
    window_->run(transport, lane.wave_base(), inputs, outputs, call);
  }
  require_epoch(transport, call);
}

void BoundCall::run_entered(Lane& lane, std::span<const std::byte* const> inputs,
                            std::span<std::byte* const> outputs, Call& call) {
  window_->run(lane.transport(), lane.wave_base(), inputs, outputs, call);
  require_epoch(lane.transport(), call);
}

}  // namespace fanin
