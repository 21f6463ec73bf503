#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "transports/links.h"
#include "transports/message_bundle.h"
#include "transports/message_header.h"
#include "transports/transport.h"

namespace fanin {

/// What a process has heard from others through an engine, sorted by channel and rank, and what it
/// tells them. Shared by the transports of a process. Any thread may call; one at a time moves the
/// messages. Ranks are those of the engine.
///
/// What ranks say when they enter an operation crosses each wire once: one rank of a host leads; it
/// hears it from its neighbours and tells all of it to the leaders of the other hosts, who tell
/// their neighbours. Of what they attach it may be only the sum. Should one of them be busy
/// elsewhere, the others need not wait for it: see say_directly().
class MessageHub {
 public:
  static constexpr int kFlagCount = 64;
  /// The first flags, which travel so.
  static constexpr int kRelayedFlags = Transport::kNoteFlag;

  MessageHub(std::unique_ptr<Engine> engine, std::size_t window_bytes);
  MessageHub(const MessageHub&) = delete;
  MessageHub& operator=(const MessageHub&) = delete;

  const Engine& engine() const { return *engine_; }

  /// What a rank has said on a channel.
  struct Voice {
    std::array<std::atomic<std::uint64_t>, kFlagCount> flags = {};
    std::array<Transport::Message, kFlagCount> words = {};
    Buffer window;
    Buffer note;
    std::atomic<bool> has_left = false;
    // Of the first rank of another host: the last sums of its ranks, where their windows have what
    // was summed.
    std::array<std::atomic<std::uint64_t>, kRelayedFlags> sum_values = {};
    Buffer sum;

    struct Data {
      std::uint64_t epoch;
      MessageName name;
      Buffer block;
    };
    // With the hub's lock:
    std::array<Buffer, kRelayedFlags> said = {};  // of this host's ranks: the last message of each
    std::deque<Data> data = {};
    std::uint64_t done_epoch = 0;
    std::uint64_t done_wave = 0;
  };

  /// A channel of all ranks.
  struct Channel {
    std::vector<std::unique_ptr<Voice>> voices;  // by rank
    std::atomic<std::uint64_t> epoch = 0;
    bool is_used = false;  // with the lock
    // With the hub's lock:
    std::uint64_t opening = 0;    // what comes of another one is too late
    std::vector<int> members;     // of the group that uses it, but for this rank
    std::vector<int> here;        // those of this host, with this rank, in the group's order
    std::vector<int> neighbours;  // the same without it
    std::vector<int> others;      // those of other hosts
    std::vector<int> leaders;     // of each other host
    bool leads = true;            // this rank leads its host
    std::array<std::uint64_t, kRelayedFlags> relayed = {};  // by this rank: the last value of each
    std::array<bool, kRelayedFlags> is_told = {};           // directly
    std::array<std::shared_ptr<const HostSum>, kRelayedFlags> sums = {};  // what this rank relays
    std::map<std::uint64_t, EpochEnd> ends;  // their ranks are the engine's
  };

  /// A group of these ranks begins to use a channel, and stops. Nothing is left on it of earlier
  /// ones, whose `opening` is another. No member may use it before all have opened it.
  Channel& open(int index, std::uint64_t opening, std::span<const int> members);
  void close(int index);
  /// One that has been opened.
  Channel& find_open(int index);
  std::uint64_t used_channels();

  /// A block that begins with the header, with room for `bytes` more: its content.
  static Buffer make_block(const MessageHeader& header, std::size_t bytes);
  static std::span<std::byte> content_of(const Buffer& block);

  void send(int peer, const Buffer& block);

  /// Sets a flag of this rank's, and tells it to all members of the channel by this block; see
  /// Transport::publish_sum(). Whoever relays looks at the flag, so it is set with what goes with
  /// it.
  void say(int index, int flag, std::uint64_t value, const Buffer& block,
           std::shared_ptr<const HostSum> sum = nullptr);

  /// For ranks that wait too long, or leave: tells those of other hosts what this rank has said,
  /// without the help of others.
  void say_directly(int index);
  bool can_send(int peer);
  bool has_sent_all(int peer);

  /// Sorts the next message that has come; whether there was one. Not all at once: whoever waits
  /// may have waited for this one, and to ask MPI in vain for more takes longer than a short sum.
  bool advance();

  /// The same for what neighbours have sent, without asking MPI.
  bool advance_near();

  /// Whether what others say by this flag reaches this rank only after a neighbour has said
  /// something: it waits for its leader, or leads and waits for its neighbours.
  bool waits_for_neighbours(int channel, int flag);

  std::optional<Buffer> take(int channel, int peer, std::uint64_t epoch, const MessageName& name);
  std::uint64_t done(int channel, int peer, std::uint64_t epoch);

  /// Ends an epoch, unless it has ended already, and tells all members, who tell each other: so
  /// nobody hears of the next epoch before.
  void end_epoch(int channel, std::uint64_t epoch, const EpochEnd& end);
  std::optional<EpochEnd> end_of(int channel, std::uint64_t epoch);

 private:
  // With the lock. A channel is made when it is first needed, here or by a message.
  Channel& find(int index);
  bool advance(std::optional<Engine::Arrival> (Engine::*next)());
  void sort(const Engine::Arrival& arrival);
  void hear_flag(Voice& voice, const MessageHeader& header, std::span<const std::byte> content);
  void end(int index, std::uint64_t epoch, const EpochEnd& end);
  void tell(std::span<const int> peers, const Buffer& block);
  void relay(int index, Channel& channel, int flag);
  void relay_bundles(int index, const Channel& channel, std::span<const BundlePart> parts);
  bool relay_sum(int index, Channel& channel, int flag, std::span<const BundlePart> parts);
  void hear_bundle(Channel& channel, const Engine::Arrival& arrival,
                   std::span<const std::byte> content);
  void hear_sum(Channel& channel, const Engine::Arrival& arrival,
                std::span<const std::byte> content);
  void hear_parts(Channel& channel, int from, std::span<const BundlePart> parts);
  void say_directly(Channel& channel);
  bool is_here(int rank) const;  // on this host

  std::unique_ptr<Engine> engine_;
  std::size_t window_bytes_;
  std::mutex mutex_;
  std::array<std::unique_ptr<Channel>, Transport::kChannelCount> channels_;
};

}  // namespace fanin
