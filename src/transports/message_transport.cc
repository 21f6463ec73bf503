#include "transports/message_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>
#include <utility>

#include "transports/epoch.h"
#include "transports/message_hub.h"
#include "transports/patience.h"

namespace fanin {
namespace {

// What a rank says comes through others; if that takes longer, without them.
constexpr auto kRelayTime = std::chrono::milliseconds(2);

// Who waits for a neighbour looks for what it has sent; to ask MPI takes longer than that, and what
// a neighbour needs to come is the core, if they share one. But now and then something else may
// have come, and a neighbour that is late may not be needed.
constexpr int kLooksForAll = 16;
constexpr int kMostNearLooks = 1000;

// Spreads the openings of groups in groups.
constexpr std::uint64_t kOpenings = 0x9e3779b97f4a7c15;

using Kind = MessageHeader::Kind;

class MessageTransport : public Transport, public Links {
 public:
  struct Place {
    std::vector<int> members;  // ranks of the engine, by rank
    int channel = 0;
    int epoch_channel = 0;
    std::uint64_t opening = 0;
  };

  MessageTransport(std::shared_ptr<MessageHub> hub, Place place)
      : hub_(std::move(hub)),
        place_(std::move(place)),
        channel_(hub_->open(place_.channel, place_.opening, place_.members)),
        epochs_(place_.channel == place_.epoch_channel ? channel_
                                                       : hub_->find_open(place_.epoch_channel)),
        rank_(static_cast<int>(std::ranges::find(place_.members, hub_->engine().rank()) -
                               place_.members.begin())) {}
  ~MessageTransport() override { hub_->close(place_.channel); }
  MessageTransport(const MessageTransport&) = delete;
  MessageTransport& operator=(const MessageTransport&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(place_.members.size()); }
  std::string_view name() const override { return "mpi"; }
  Sight sight(int peer) const override { return peer == rank_ ? Sight::kMemory : Sight::kMessage; }
  Links* links() override { return this; }
  bool serves_threads() const override { return hub_->engine().serves_threads(); }
  void require_threads() const override {
    if (!serves_threads())
      throw Unavailable(
          "handles need a thread of their own, and MPI was initialised for one thread only; call "
          "MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
  }

  std::vector<int> hosts() const override {
    const std::vector<int>& all = hub_->engine().hosts();
    std::vector<int> mine;
    for (const int member : place_.members) {
      const auto same = std::ranges::find_if(place_.members, [&](int other) {
        return all[static_cast<std::size_t>(other)] == all[static_cast<std::size_t>(member)];
      });
      mine.push_back(static_cast<int>(same - place_.members.begin()));
    }
    return mine;
  }

  std::string describe(int peer) const override {
    const int member = this->member(peer);
    const int host = hub_->engine().hosts()[static_cast<std::size_t>(member)];
    return member == peer && host == member
               ? fmt::format("rank {}", peer)
               : fmt::format("rank {} (MPI rank {}, on the host of MPI rank {})", peer, member,
                             host);
  }

  std::span<std::byte> window(int rank) override { return voice(rank).window.bytes(); }
  std::span<std::byte> note(int rank) override { return voice(rank).note.bytes(); }
  std::span<std::byte> registered(int) override { return {}; }
  std::size_t registered_unit() const override { return 1; }
  std::optional<std::uint64_t> renewal_count() const override { return std::nullopt; }
  WriteAccess write_access(std::span<const std::uint64_t>, const Call& call) override {
    throw PeerFailure(
        fmt::format("a rank tells where its memory is, which nobody sees: {}", call.describe()));
  }
  void renew(std::span<const std::span<std::byte>>) override {}
  std::shared_ptr<void> memory_handle() override { return hub_; }
  int flag_count() const override { return MessageHub::kFlagCount; }
  Message& message(int rank, int flag) override {
    return voice(rank).words[static_cast<std::size_t>(flag)];
  }

  void publish(int flag, std::uint64_t value) override {
    // Notes are for ranks that differ: seldom, so they go whole.
    publish(flag, value,
            flag == kNoteFlag ? voice(rank_).note.bytes() : std::span<const std::byte>());
  }

  void publish(int flag, std::uint64_t value, std::span<const std::byte> attached) override {
    publish_sum(flag, value, attached, nullptr);
  }

  void publish_sum(int flag, std::uint64_t value, std::span<const std::byte> attached,
                   std::shared_ptr<const HostSum> sum) override {
    MessageHub::Voice& mine = voice(rank_);
    const std::span<const std::byte> note = mine.note.bytes();
    const bool is_note = !attached.empty() && std::less_equal<>{}(note.data(), attached.data()) &&
                         std::less<>{}(attached.data(), note.data() + note.size());
    const std::byte* const start = is_note ? note.data() : mine.window.bytes().data();
    MessageHeader header{
        .kind = is_note ? Kind::kFlagAndNote : Kind::kFlag,
        .channel = place_.channel,
        .opening = place_.opening,
        .value = value,
        .flag = flag,
        .offset = attached.empty() ? 0 : static_cast<std::uint64_t>(attached.data() - start)};
    for (std::size_t i = 0; i < header.words.size(); ++i)
      header.words[i] =
          mine.words[static_cast<std::size_t>(flag)][i].load(std::memory_order_relaxed);
    const Buffer block = MessageHub::make_block(header, attached.size());
    if (!attached.empty())
      std::memcpy(MessageHub::content_of(block).data(), attached.data(), attached.size());
    hub_->say(place_.channel, flag, value, block, std::move(sum));
  }

  const std::byte* find_sum(int first, int flag, std::uint64_t value, std::size_t offset) override {
    const MessageHub::Voice& host = voice(first);
    const auto at = static_cast<std::size_t>(flag);
    const bool is_here = host.sum_values[at].load(std::memory_order_acquire) == value;
    return is_here ? host.sum.bytes().data() + offset : nullptr;
  }

  std::uint64_t peek(int rank, int flag) const override {
    return voice(rank).flags[static_cast<std::size_t>(flag)].load(std::memory_order_acquire);
  }

  std::uint64_t wait(int rank, int flag, std::uint64_t value, Call& call) override {
    Patience patience;
    std::optional<Deadline> relay_time;
    for (int looks = 1;; ++looks) {
      if (const std::uint64_t seen = peek(rank, flag); seen >= value) return seen;
      const Deadline now = Clock::now();
      if (!relay_time) relay_time = now + kRelayTime;
      if (now >= *relay_time) {
        hub_->say_directly(place_.channel);
        relay_time = Deadline::max();
      }
      const bool near = looks % kLooksForAll != 0 && looks < kMostNearLooks &&
                        hub_->waits_for_neighbours(place_.channel, flag);
      go_on(rank, patience, call, near ? Reach::kNear : Reach::kAll,
            [&] { return peek(rank, flag) >= value; });
    }
  }

  void listen() override {
    while (hub_->advance()) continue;
  }

  std::uint64_t epoch() const override { return epochs_.epoch.load(std::memory_order_acquire); }

  void end_epoch(std::uint64_t epoch, const EpochEnd& end) override {
    hub_->end_epoch(place_.epoch_channel, epoch,
                    {.rank = member(end.rank), .kind = end.kind, .sentence = end.sentence});
  }

  // Channels are opened anew.
  void begin_epoch(std::uint64_t) override {}

  EpochEnd end_of(std::uint64_t epoch) const override {
    std::optional<EpochEnd> end = hub_->end_of(place_.epoch_channel, epoch);
    if (!end) return {.rank = rank_, .sentence = "it no longer knows why"};
    const auto found = std::ranges::find(place_.members, end->rank);
    end->rank = static_cast<int>(found - place_.members.begin());
    return std::move(*end);
  }

  bool is_gone(int peer) override { return voice(peer).has_left.load(std::memory_order_acquire); }

  bool can_shrink() const override { return false; }
  int find_decider(std::uint64_t) override { return rank_; }

  std::unique_ptr<Transport> open(int channel, int epoch_channel, std::span<const int> ranks,
                                  std::uint64_t opening) override {
    Place place{.members = {},
                .channel = channel,
                .epoch_channel = epoch_channel,
                .opening = place_.opening * kOpenings + opening + 1};
    for (const int rank : ranks) place.members.push_back(member(rank));
    return std::make_unique<MessageTransport>(hub_, std::move(place));
  }
  std::uint64_t used_channels() const override { return hub_->used_channels(); }

  void tell_directly() override { hub_->say_directly(place_.channel); }

  bool can_send(int peer) override { return hub_->can_send(member(peer)); }

  Draft begin(const MessageName& name, std::size_t bytes, const Call& call) override {
    Buffer block = MessageHub::make_block({.kind = Kind::kData,
                                           .channel = place_.channel,
                                           .opening = place_.opening,
                                           .epoch = call.epoch,
                                           .name = name},
                                          bytes);
    const std::span<std::byte> content = MessageHub::content_of(block);
    return {std::move(block), content};
  }

  void send(int peer, Draft draft) override { hub_->send(member(peer), draft.block); }

  bool has_sent_all(int peer) override { return hub_->has_sent_all(member(peer)); }

  std::optional<Delivery> take(int peer, const MessageName& name, const Call& call) override {
    std::optional<Buffer> block = hub_->take(place_.channel, member(peer), call.epoch, name);
    if (!block) return std::nullopt;
    link_patience_.renew();
    const std::span<const std::byte> content = MessageHub::content_of(*block);
    return Delivery{std::move(*block), content};
  }

  void tell_done(int peer, std::uint64_t wave, const Call& call) override {
    hub_->send(member(peer), MessageHub::make_block({.kind = Kind::kDone,
                                                     .channel = place_.channel,
                                                     .opening = place_.opening,
                                                     .epoch = call.epoch,
                                                     .value = wave},
                                                    0));
  }

  std::uint64_t done(int peer, const Call& call) override {
    return hub_->done(place_.channel, member(peer), call.epoch);
  }

  void wait(int peer, Call& call) override {
    go_on(peer, link_patience_, call, Reach::kAll, [&] { return hub_->advance(); });
  }

 private:
  int member(int rank) const { return place_.members[static_cast<std::size_t>(rank)]; }

  MessageHub::Voice& voice(int rank) const {
    assert(rank >= 0 && rank < size());
    return *channel_.voices[static_cast<std::size_t>(member(rank))];
  }

  enum class Reach : std::uint8_t { kNear, kAll };

  void go_on(int rank, Patience& patience, Call& call, Reach reach,
             const std::function<bool()>& look) {
    if (reach == Reach::kNear ? hub_->advance_near() : hub_->advance())
      patience.renew();
    else
      patience.rest(*this, rank, call, look);
  }

  std::shared_ptr<MessageHub> hub_;
  Place place_;
  MessageHub::Channel& channel_;
  MessageHub::Channel& epochs_;
  int rank_;
  Patience link_patience_;
};

}  // namespace

std::unique_ptr<Transport> make_message_transport(std::unique_ptr<Engine> engine,
                                                  std::size_t window_bytes) {
  MessageTransport::Place place;
  place.members.resize(static_cast<std::size_t>(engine->size()));
  std::iota(place.members.begin(), place.members.end(), 0);
  return std::make_unique<MessageTransport>(
      std::make_shared<MessageHub>(std::move(engine), window_bytes), std::move(place));
}

}  // namespace fanin
