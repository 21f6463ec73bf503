#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transports/host_sum.h"
#include "transports/transport.h"

namespace fanin {

/// Which operation of a group this is.
struct Ticket {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;  ///< in its epoch, from 1
};

/// One of the ways on which a group's operations travel, one at a time on each: how ranks enter an
/// operation together, find out whether they all mean the same, and end it.
class Lane {
 public:
  /// How many lanes a group has: operation k is on lane k mod kCount.
  static constexpr int kCount = 2;

  explicit Lane(std::unique_ptr<Transport> transport, int index = 0);

  Transport& transport() { return *transport_; }
  int index() const { return index_; }

  /// Whose windows to use while nobody has another operation under way: the same for all lanes, so
  /// that they stay in cache. Null: its own.
  Transport* common_windows() const { return common_windows_; }
  void set_common_windows(Transport& transport) { common_windows_ = &transport; }

  /// Hears what others have sent, where ranks do not see each other: before a new operation. Not
  /// each time if they follow each other soon, since operations that wait listen too.
  void listen() {
    if (links_ != nullptr) listen_now_and_then();
  }

  /// What a rank says when it enters: the first message.
  struct Entry {
    std::uint64_t fingerprint = 0;
    std::array<std::uint64_t, Transport::kMessageWords - 1> words = {};
    std::size_t word_count =
        Transport::kMessageWords - 1;  ///< that are said; others stay as before
    /// What belongs to it of this rank's window, or note: others may not see these.
    std::span<const std::byte> attached = {};
    /// If other hosts need only the sum of what is attached.
    std::shared_ptr<const HostSum> sum = nullptr;
  };

  /// To be called before anything is written for the operation: what was said two operations ago
  /// is about to be written over, so all must have gone on since. Throws if the epoch is over.
  void begin(const Ticket& ticket, Call& call);

  /// Says it, and waits until all ranks have entered. Whoever is in operation k has left the one
  /// before on this lane, so from here on the window is free. Whether all have the fingerprint.
  bool enter(const Ticket& ticket, const Entry& entry, Call& call);

  /// Says that this rank's arguments were refused, and does not wait unless somebody has not yet
  /// heard what it said before.
  void refuse(const Ticket& ticket, std::string_view note, Call& call);

  /// For ranks that found that they differ: tells what this one asks for and throws as
  /// throw_mismatch().
  [[noreturn]] void compare(const Ticket& ticket, std::string_view note, Call& call);

  /// A word that a rank said when it entered the operation.
  std::uint64_t word(int rank, const Ticket& ticket, std::size_t index) const {
    return message(rank, turn(ticket))[index + 1].load(std::memory_order_relaxed);
  }

  /// The bytes of these words, for every operation of a turn.
  const std::byte* word_bytes(int rank, int turn) const;

  /// After enter(): as Transport::find_sum().
  const std::byte* find_sum(int first, const Ticket& ticket, std::size_t offset) const;

  /// The half of a rank's note that belongs to the operation.
  std::span<std::byte> note(int rank, const Ticket& ticket);

  /// Operations of a lane take turns: 0 or 1.
  static int turn(const Ticket& ticket) {
    return static_cast<int>(ticket.number / static_cast<std::uint64_t>(kCount) % 2);
  }

  /// After begin(): whether all ranks have entered an earlier operation of this epoch here. Then
  /// nobody is still in one of an epoch before.
  bool have_met() const { return all_heard_ > 0; }

  /// How often two ranks have traded the slots of this turn; starts anew with each epoch.
  std::uint64_t& trade_count(const Ticket& ticket) {
    return trade_counts_[static_cast<std::size_t>(turn(ticket))];
  }

  /// Counts waves, the same on all ranks; starts anew with each epoch.
  std::uint64_t& wave_base() { return wave_base_; }

 private:
  void listen_now_and_then();
  void say(const Ticket& ticket, const Entry& entry);
  std::string describe_absent(const Ticket& ticket) const;
  void write_note(const Ticket& ticket, std::string_view text);
  void wait_until_heard(const Ticket& ticket, Call& call);

  Transport::Message& message(int rank, int turn) const {
    return *messages_[2 * static_cast<std::size_t>(rank) + static_cast<std::size_t>(turn)];
  }

  std::unique_ptr<Transport> transport_;
  int index_;  // among the group's lanes
  Transport* common_windows_ = nullptr;
  Links* links_;  // of the transport, or null
  int rank_;      // in the transport, asked once
  int size_;
  std::vector<Transport::Message*> messages_;  // [2 * rank + turn], of the call flags
  std::uint64_t epoch_ = 0;
  std::uint64_t last_ = 0;       // the number of this rank's last operation here
  std::uint64_t all_heard_ = 0;  // the last one that all ranks are known to have entered
  std::uint64_t wave_base_ = 0;
  std::array<std::uint64_t, 2> trade_counts_ = {};  // by turn
  Deadline listened_ = {};                          // when it last did
};

}  // namespace fanin
