#include "distribute/lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "distribute/request.h"
#include "transports/epoch.h"
#include "transports/links.h"

namespace fanin {
namespace {

// A fingerprint that no request has: it is never equal to another's.
constexpr std::uint64_t kRefusal = 0;

// Listening may let other ranks run that share the core, which costs more than a short operation.
constexpr auto kListenTime = std::chrono::milliseconds(1);

}  // namespace

Lane::Lane(std::unique_ptr<Transport> transport, int index)
    : transport_(std::move(transport)),
      index_(index),
      links_(transport_ ? transport_->links() : nullptr),
      rank_(transport_ ? transport_->rank() : 0),
      size_(transport_ ? transport_->size() : 0) {
  for (int rank = 0; rank < size_; ++rank)
    for (int turn = 0; turn < 2; ++turn)
      messages_.push_back(&transport_->message(rank, Transport::kCallFlags + turn));
}

void Lane::listen_now_and_then() {
  const Deadline now = Clock::now();
  if (now - listened_ < kListenTime) return;
  listened_ = now;
  transport_->listen();
}

void Lane::begin(const Ticket& ticket, Call& call) {
  require_epoch(*transport_, call);
  if (ticket.epoch != epoch_) {
    epoch_ = ticket.epoch;
    last_ = all_heard_ = wave_base_ = 0;
    trade_counts_ = {};
  }
  if (last_ > all_heard_) {
    const Ticket before{epoch_, last_};
    for (int rank = 0; rank < size_; ++rank)
      if (rank != rank_)
        wait_for_count(*transport_, rank, Transport::kCallFlags + turn(before), last_, call);
    all_heard_ = last_;
  }
}

void Lane::say(const Ticket& ticket, const Entry& entry) {
  const int flag = Transport::kCallFlags + turn(ticket);
  Transport::Message& mine = message(rank_, turn(ticket));
  mine[0].store(entry.fingerprint, std::memory_order_relaxed);
  for (std::size_t i = 0; i < entry.word_count; ++i)
    mine[i + 1].store(entry.words[i], std::memory_order_relaxed);
  if (links_ != nullptr) {
    // What was said before need not travel again.
    for (std::size_t i = entry.word_count + 1; i < mine.size(); ++i)
      mine[i].store(0, std::memory_order_relaxed);
    transport_->publish_sum(flag, flag_value(ticket.epoch, ticket.number), entry.attached,
                            entry.sum);
  } else
    transport_->publish(flag, flag_value(ticket.epoch, ticket.number));
  last_ = ticket.number;
}

bool Lane::enter(const Ticket& ticket, const Entry& entry, Call& call) {
  say(ticket, entry);
  const int flag = Transport::kCallFlags + turn(ticket);
  bool are_same = true;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    try {
      wait_for_count(*transport_, rank, flag, ticket.number, call);
    } catch (const DeadlineExceeded& error) {
      throw DeadlineExceeded(error.what() + describe_absent(ticket));
    }
    are_same &= message(rank, turn(ticket))[0].load(std::memory_order_relaxed) == entry.fingerprint;
  }
  all_heard_ = ticket.number;
  return are_same;
}

/// Names those who have not entered the operation, where one name would not tell all.
std::string Lane::describe_absent(const Ticket& ticket) const {
  constexpr int kMostNamed = 8;
  std::string names;
  int count = 0;
  for (int rank = 0; rank < size_; ++rank) {
    if (transport_->peek(rank, Transport::kCallFlags + turn(ticket)) >=
        flag_value(ticket.epoch, ticket.number))
      continue;
    if (++count <= kMostNamed) names += fmt::format("{}rank {}", count == 1 ? "" : ", ", rank);
  }
  if (count < 2) return "";
  const std::string more = count > kMostNamed ? fmt::format(", {} more", count - kMostNamed) : "";
  return fmt::format("; absent: {}{}", names, more);
}

void Lane::write_note(const Ticket& ticket, std::string_view text) {
  const std::span<std::byte> mine = note(rank_, ticket);
  const std::uint64_t length = std::min(text.size(), mine.size() - sizeof(std::uint64_t));
  std::memcpy(mine.data(), &length, sizeof length);
  std::memcpy(mine.data() + sizeof length, text.data(), length);
  const std::uint64_t value = flag_value(ticket.epoch, ticket.number);
  if (links_ != nullptr)  // no longer than it must be: whoever refuses does not stay to send it
    transport_->publish(Transport::kNoteFlag, value, mine.first(sizeof length + length));
  else
    transport_->publish(Transport::kNoteFlag, value);
}

void Lane::refuse(const Ticket& ticket, std::string_view text, Call& call) {
  begin(ticket, call);
  write_note(ticket, text);
  say(ticket, {.fingerprint = kRefusal, .words = {}});
  if (links_ != nullptr) links_->tell_directly();
}

/// A long note may need its sender until it is received, by all who wait for it.
void Lane::wait_until_heard(const Ticket& ticket, Call& call) {
  if (links_ == nullptr) return;
  transport_->publish(Transport::kHeardFlag, flag_value(ticket.epoch, ticket.number));
  for (int rank = 0; rank < size_; ++rank) {
    const bool has_refused =
        message(rank, turn(ticket))[0].load(std::memory_order_relaxed) == kRefusal;
    if (has_refused || rank == rank_) continue;
    try {
      wait_for_count(*transport_, rank, Transport::kHeardFlag, ticket.number, call);
    } catch (const Error&) {
      // That rank has an error of its own; this one knows already what to tell.
    }
  }
}

void Lane::compare(const Ticket& ticket, std::string_view text, Call& call) {
  write_note(ticket, text);
  std::vector<std::string> notes;
  for (int rank = 0; rank < size_; ++rank) {
    wait_for_count(*transport_, rank, Transport::kNoteFlag, ticket.number, call);
    const std::span<std::byte> theirs = note(rank, ticket);
    std::uint64_t length = 0;
    std::memcpy(&length, theirs.data(), sizeof length);
    length = std::min<std::uint64_t>(length, theirs.size() - sizeof length);
    notes.emplace_back(reinterpret_cast<const char*>(theirs.data()) + sizeof length, length);
  }
  require_epoch(*transport_, call);
  wait_until_heard(ticket, call);
  throw_mismatch(notes, ticket.number);
}

const std::byte* Lane::word_bytes(int rank, int turn) const {
  return reinterpret_cast<const std::byte*>(&message(rank, turn)[1]);
}

const std::byte* Lane::find_sum(int first, const Ticket& ticket, std::size_t offset) const {
  return transport_->find_sum(first, Transport::kCallFlags + turn(ticket),
                              flag_value(ticket.epoch, ticket.number), offset);
}

std::span<std::byte> Lane::note(int rank, const Ticket& ticket) {
  constexpr std::size_t kHalf = (Transport::kNoteBytes - Transport::kLastWordsBytes) / 2;
  return transport_->note(rank).subspan(kHalf * static_cast<std::size_t>(turn(ticket)), kHalf);
}

}  // namespace fanin
