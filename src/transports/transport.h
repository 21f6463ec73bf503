#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fanin/error.h"
#include "transports/host_sum.h"
#include "transports/precedence.h"

namespace fanin {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// The deadline `timeout` from now; one too long to be counted never comes.
inline Deadline deadline_after(std::chrono::duration<double> timeout) {
  constexpr std::chrono::duration<double> kForever = std::chrono::hours(24 * 365 * 100);
  if (timeout >= kForever) return Deadline::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
}

/// What a rank may do with another rank's data.
enum class Sight : std::uint8_t {
  kMemory,   // read all of it
  kWindow,   // read its window, read and write its registered memory
  kMessage,  // receive what it sends
};

/// What a rank is in the middle of: how long it may wait in all, and how messages call it.
struct Call {
  std::uint64_t epoch = 0;
  std::chrono::duration<double> timeout = std::chrono::minutes(5);
  /// "all_reduce of float32 [4] by direct (operation 3)".
  std::function<std::string()> describe = {};
  /// The thread has work beside it that needs the core more: it does not spin for long.
  bool in_background = false;
  /// This rank has no other operation of the group under way, and begins none before this returns.
  bool is_alone = false;
  /// Set by the first wait that has to sleep: a call that nobody keeps waiting reads no clock.
  std::optional<Deadline> deadline = std::nullopt;
  /// Among the group's operations. None: there are no others.
  Precedence::Place* place = nullptr;

  Deadline until() {
    if (!deadline) deadline = deadline_after(timeout);
    return *deadline;
  }

  /// To be called between two blocks, by those that hold nothing which others wait for.
  void give_way() const {
    if (place != nullptr) place->give_way();
  }
};

/// Why an epoch has ended.
struct EpochEnd {
  int rank = 0;  ///< who ended it
  ErrorKind kind = ErrorKind::kPeerDied;
  std::string sentence;
};

/// Throws what the rank that ended the epoch has thrown, with its sentence.
[[noreturn]] void throw_epoch_end(const EpochEnd& end, const Call& call);

class Links;

/// As long as it lives, registered memory of other ranks may be read and written.
using WriteAccess = std::shared_lock<std::shared_mutex>;

class Transport;

/// What a rank that is waited for has last entered, as the end of a sentence.
std::string describe_last_sign(const Transport& transport, int rank);

/// Some ranks, as one of them sees them. One object per rank; its functions are called by
/// one thread at a time, but for epoch() and end_epoch(), which any may call.
///
/// Each rank owns a window of bytes, a note and a row of flags. Its own it writes, those of others
/// it only reads; shelves all write, and registered memory when told to. A flag is a number that
/// grows and is never set back, with a few words beside it that change with it.
///
/// Failures have one place: an epoch. Whoever gives up ends it, and all who wait in it are told at
/// once. What a rank that is late still does in an epoch that is over, it does to memory of its
/// own, or to memory that nobody looks at any more.
///
/// Destroying the object means that its rank leaves: whoever waits for more than it has published
/// gets PeerFailure.
class Transport {
 public:
  /// What a rank says about the operation that it enters, in two halves that take turns.
  static constexpr std::size_t kNoteBytes = 65536;
  /// At the end of a note: not for those who use the transport.
  static constexpr std::size_t kLastWordsBytes = 8192;

  static constexpr std::size_t kShelfBytes = 512 << 10;

  /// Words beside a flag, in its cache line.
  static constexpr std::size_t kMessageWords = 6;
  using Message = std::array<std::atomic<std::uint64_t>, kMessageWords>;

  /// What a flag is for. The two call flags take turns; each carries what a rank says when it
  /// enters an operation. The note flag says which operation the note is about, where ranks differ;
  /// the heard flag, that this rank has read the notes of all.
  /// The completion flag counts the waves after which this rank reads no slot
  /// any more; from the first free one on, each counts the waves of one level.
  static constexpr int kCallFlags = 0;
  static constexpr int kNoteFlag = 2;
  static constexpr int kCompletionFlag = 3;
  static constexpr int kShrinkFlag = 4;
  static constexpr int kHeardFlag = 5;
  static constexpr int kFirstFreeFlag = 6;

  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string_view name() const = 0;

  /// What this rank may do with the data of `peer`.
  virtual Sight sight(int peer) const = 0;

  /// How data goes to ranks that see no windows; null if all do.
  virtual Links* links() { return nullptr; }

  /// For each rank the lowest rank that is on the same host.
  virtual std::vector<int> hosts() const {
    return std::vector<int>(static_cast<std::size_t>(size()), 0);
  }

  /// For each rank the lowest rank that stays on the same core: itself where ranks may move.
  virtual std::vector<int> cores() const {
    std::vector<int> own(static_cast<std::size_t>(size()));
    std::iota(own.begin(), own.end(), 0);
    return own;
  }

  /// Whether threads may take turns to use the transports of this process; throws Unavailable if
  /// not.
  virtual bool serves_threads() const { return true; }
  virtual void require_threads() const {}

  /// Whether the survivors of a death can go on without the dead.
  virtual bool can_shrink() const { return true; }

  /// Whether ranks of one host have to share cores; the same for all of them. Then a hop costs
  /// switches of processes, which may take longer than the data.
  virtual bool shares_cores() const { return false; }

  /// Names the rank for messages, with what is known about it: "rank 1 (process 42)".
  virtual std::string describe(int peer) const = 0;

  /// The window of a rank: 64-byte aligned, the same size for all ranks. That of a rank whose
  /// windows are not seen holds what it has published.
  virtual std::span<std::byte> window(int rank) = 0;

  /// The note of a rank: kNoteBytes, 64-byte aligned.
  virtual std::span<std::byte> note(int rank) = 0;

  /// Memory of a rank that all ranks of this channel write: kShelfBytes, 64-byte aligned, or
  /// nothing where there is none. Only for those who know that all have entered an operation of
  /// this epoch: one that is late could still write here.
  virtual std::span<std::byte> shelf(int /*rank*/) { return {}; }

  /// Memory of a rank's process that all ranks see: the same bytes for all transports of a process.
  /// Null and empty where all memory is seen.
  virtual std::span<std::byte> registered(int rank) = 0;

  /// Others may write registered memory in pieces of so many bytes, at multiples of them.
  virtual std::size_t registered_unit() const = 0;

  /// How often this rank's process has called renew(): those who write its memory must be told.
  /// None if it cannot do so again; then nobody may be told to write there.
  virtual std::optional<std::uint64_t> renewal_count() const = 0;

  /// To read and write the registered memory of all ranks, after the renewals that each has told.
  /// Throws as throw_epoch_end() if the call's epoch is over, PeerFailure if a rank told nonsense.
  virtual WriteAccess write_access(std::span<const std::uint64_t> renewal_counts,
                                   const Call& call) = 0;

  /// For whoever gives up a call in which others were told to write, after the end of its epoch:
  /// what they still write there is not seen any more. Addresses and contents stay. Throws
  /// Unavailable if there is no memory for that.
  virtual void renew(std::span<const std::span<std::byte>> pieces) = 0;

  /// A piece of memory of another rank's process.
  struct Fetched {
    std::byte* to;       ///< where it goes, here
    std::uint64_t from;  ///< its address there
    std::size_t bytes;
  };

  /// Whether this rank can read all memory of the other ranks' processes, registered or not, as far
  /// as it knows: not before all have come, and not after fetch() has failed.
  virtual bool can_fetch() { return false; }

  /// Copies memory of another rank's process. Throws PeerFailure if that is not possible: the rank
  /// has died, or told nonsense.
  virtual void fetch(int peer, std::span<const Fetched> pieces, const Call& call);

  /// Keeps the memory of all of that mapped as long as it lives.
  virtual std::shared_ptr<void> memory_handle() = 0;

  /// How many flags a rank has: at least 64.
  virtual int flag_count() const = 0;

  /// Written by the rank itself before it publishes the flag, read by others after.
  virtual Message& message(int rank, int flag) = 0;

  /// Sets one of this rank's flags: everything that this rank wrote before is visible to whoever
  /// sees the value. Values must not decrease. Flags that travel as messages may overtake each
  /// other, so whoever needs several waits for each.
  virtual void publish(int flag, std::uint64_t value) = 0;

  /// The same, for ranks that do not see windows and notes: they get these bytes of this rank's.
  /// The note flag always brings the note.
  virtual void publish(int flag, std::uint64_t value, std::span<const std::byte> attached) {
    static_cast<void>(attached);
    publish(flag, value);
  }

  /// The same, if ranks of other hosts need only the sum of what the ranks of this one attach. If
  /// all of these say the same, with as many bytes at the same place of their windows, others may
  /// get only that; what a rank has attached they get as well if it waits for long.
  virtual void publish_sum(int flag, std::uint64_t value, std::span<const std::byte> attached,
                           std::shared_ptr<const HostSum> /*sum*/) {
    publish(flag, value, attached);
  }

  /// For whoever has waited until all ranks of another host have published this value: their sum,
  /// as long as windows would have it, or null if all that they have attached is in their windows.
  /// `first` is the lowest rank of that host, `offset` the place in the windows.
  virtual const std::byte* find_sum(int /*first*/, int /*flag*/, std::uint64_t /*value*/,
                                    std::size_t /*offset*/) {
    return nullptr;
  }

  /// The present value of a flag, with acquire order.
  virtual std::uint64_t peek(int rank, int flag) const = 0;

  /// Returns when the flag has reached `value`, with what it is then. Spins, yields, then sleeps.
  /// Throws DeadlineExceeded at the deadline, PeerFailure when that rank is dead and has not
  /// published the value, and as throw_epoch_end() when the call's epoch is over; messages name
  /// this rank, the peer, its last sign of life, and the call.
  virtual std::uint64_t wait(int rank, int flag, std::uint64_t value, Call& call) = 0;

  /// Hears what others have sent, such as the end of an epoch: before a new call.
  virtual void listen() {}

  /// Counts the failures of the group, from 0.
  virtual std::uint64_t epoch() const = 0;

  /// Ends an epoch, unless it has ended already, and wakes all who wait in it.
  virtual void end_epoch(std::uint64_t epoch, const EpochEnd& end) = 0;

  /// Begins an epoch, unless it or a later one has begun: for the first of a new group.
  virtual void begin_epoch(std::uint64_t epoch) = 0;

  /// Why the epoch has ended, as far as it is still known.
  virtual EpochEnd end_of(std::uint64_t epoch) const = 0;

  /// Whether the rank will never come again: it is dead, or has left.
  virtual bool is_gone(int peer) = 0;

  /// One of those who ask decides; all are told who. Generations grow, also from group to group of
  /// a channel, and are below 2^48.
  virtual int find_decider(std::uint64_t generation) = 0;

  /// The same memory on another channel, for some of the ranks, in this order. Its epochs are those
  /// of channel `epoch_channel`. Only one group at a time may use a channel, all its ranks alike;
  /// `opening` is the same for all of them and differs from that of the group before.
  virtual std::unique_ptr<Transport> open(int channel, int epoch_channel,
                                          std::span<const int> ranks, std::uint64_t opening) = 0;

  /// The latest epoch of all groups that this rank's process has left: what they have published
  /// lies below those of later groups. 0 where channels are opened anew.
  virtual std::uint64_t last_epoch() const { return 0; }

  /// How many channels there are, and which of them this process cannot begin to use, a bit for
  /// each: those that it uses, and those that others use with whom it was there.
  static constexpr int kChannelCount = 64;
  virtual std::uint64_t used_channels() const = 0;

  /// Transports of the same group, which live as long: what a rank has entered there is a sign of
  /// life too.
  void set_beside(std::vector<const Transport*> others) { beside_ = std::move(others); }
  const std::vector<const Transport*>& beside() const { return beside_; }

 private:
  std::vector<const Transport*> beside_;
};

}  // namespace fanin
