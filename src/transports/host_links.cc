#include "transports/host_links.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <vector>

#include "fanin/context.h"
#include "transports/epoch.h"
#include "transports/patience.h"
#include "transports/ring_count.h"

namespace fanin {
namespace {

constexpr std::size_t kLine = 64;
// Messages for one rank that wait for room.
constexpr std::size_t kMostWaiting = 8;
// The name of a message that tells how far a rank is; its wave says it.
constexpr std::int32_t kDoneNumber = -1;

struct Header {
  MessageName name = {};
  std::uint64_t epoch = 0;
  std::uint64_t bytes = 0;  // that follow, before they are filled up to whole lines
};
static_assert(sizeof(Header) <= kLine);

std::size_t lines_of(std::size_t bytes) { return (bytes + kLine - 1) / kLine; }

/// At the beginning of a rank's window, one for each other rank. Lines are counted in the epoch.
struct alignas(kLine) Counts {
  std::atomic<std::uint64_t> written;  // into the ring for that rank
  std::atomic<std::uint64_t> read;     // from that rank's ring for this one
};

class HostLinks : public Links {
 public:
  explicit HostLinks(Transport& transport)
      : transport_(transport),
        ring_lines_(
            transport.window(0).size() / kLine / static_cast<std::size_t>(transport.size()) - 1),
        peers_(static_cast<std::size_t>(transport.size())) {}

  bool can_send(int peer) override {
    push(peer);
    return at(peer).waiting.size() < kMostWaiting;
  }

  Draft begin(const MessageName& name, std::size_t bytes, const Call& call) override {
    begin_epoch(call);
    Buffer block = Context::process().buffers().allocate(kLine + lines_of(bytes) * kLine);
    const Header header{.name = name, .epoch = call.epoch, .bytes = bytes};
    std::memcpy(block.bytes().data(), &header, sizeof header);
    const std::span<std::byte> content = block.bytes().subspan(kLine, bytes);
    return {std::move(block), content};
  }

  void send(int peer, Draft draft) override {
    at(peer).waiting.push_back({std::move(draft.block), 0});
    push(peer);
  }

  bool has_sent_all(int peer) override {
    push(peer);
    return at(peer).waiting.empty();
  }

  std::optional<Delivery> take(int peer, const MessageName& name, const Call& call) override {
    begin_epoch(call);
    pull(peer);
    auto& arrived = at(peer).arrived;
    const auto found =
        std::ranges::find(arrived, name, [](const Arrived& each) { return each.header.name; });
    if (found == arrived.end()) return std::nullopt;
    patience_.renew();
    Delivery delivery{std::move(found->block), {}};
    delivery.bytes = delivery.block.bytes();
    arrived.erase(found);
    return delivery;
  }

  void tell_done(int peer, std::uint64_t wave, const Call& call) override {
    send(peer, begin({.wave = wave, .from = 0, .to = 0, .number = kDoneNumber}, 0, call));
  }

  std::uint64_t done(int peer, const Call& call) override {
    begin_epoch(call);
    pull(peer);
    return at(peer).done;
  }

  void wait(int peer, Call& call) override {
    begin_epoch(call);
    bool has_moved = false;
    for (int other = 0; other < transport_.size(); ++other)
      if (other != transport_.rank()) has_moved |= push(other) | pull(other);
    if (has_moved)
      patience_.renew();
    else
      patience_.rest(transport_, peer, call, [&] { return pull(peer); });
  }

 private:
  struct Waiting {
    Buffer block;
    std::size_t lines_written;
  };
  struct Arrived {
    Header header;
    Buffer block;
  };
  struct Peer {
    std::deque<Waiting> waiting;
    std::uint64_t written = 0;  // lines, of this epoch
    std::uint64_t read = 0;
    Arrived coming;  // as far as it is here
    std::size_t lines_here = 0;
    bool has_header = false;
    std::deque<Arrived> arrived;
    std::uint64_t done = 0;
  };

  Peer& at(int peer) { return peers_[static_cast<std::size_t>(peer)]; }

  /// What was under way in an epoch that is over is forgotten, on both sides.
  void begin_epoch(const Call& call) {
    if (call.epoch <= epoch_) return;
    epoch_ = call.epoch;
    for (Peer& peer : peers_) peer = Peer();
  }

  Counts& counts(int rank, int other) {
    return reinterpret_cast<Counts*>(transport_.window(rank).data())[other];
  }

  std::span<std::byte> line(int rank, int reader, std::uint64_t count) {
    const std::size_t first = static_cast<std::size_t>(transport_.size()) +
                              static_cast<std::size_t>(reader) * ring_lines_;
    return transport_.window(rank).subspan((first + count % ring_lines_) * kLine);
  }

  /// The lower bits of a count of this epoch; none if the word is of another one.
  std::optional<std::uint64_t> read_count(const std::atomic<std::uint64_t>& word) const {
    const std::uint64_t value = word.load(std::memory_order_acquire);
    if (epoch_of(value) != (epoch_ & (~std::uint64_t{0} >> kCountBits))) return std::nullopt;
    return count_of(value);
  }
  void write_count(std::atomic<std::uint64_t>& word, std::uint64_t count) const {
    word.store(flag_value(epoch_, count_of(count)), std::memory_order_release);
  }

  /// Lines up to the end of the ring, at most `wanted`.
  std::size_t up_to_the_end(std::uint64_t count, std::size_t wanted) const {
    return std::min<std::size_t>(wanted, ring_lines_ - count % ring_lines_);
  }

  /// Writes what there is room for; whether anything.
  bool push(int to) {
    Peer& peer = at(to);
    if (peer.waiting.empty()) return false;
    const int me = transport_.rank();
    const auto read_there = read_count(counts(to, me).read);
    const std::uint64_t free_until =
        (read_there ? count_up_to(peer.written, *read_there) : 0) + ring_lines_;
    const std::uint64_t before = peer.written;
    while (!peer.waiting.empty() && peer.written < free_until) {
      Waiting& first = peer.waiting.front();
      const std::size_t all = first.block.size() / kLine;
      const std::size_t count = up_to_the_end(
          peer.written,
          std::min<std::size_t>(all - first.lines_written, free_until - peer.written));
      std::memcpy(line(me, to, peer.written).data(),
                  first.block.bytes().data() + first.lines_written * kLine, count * kLine);
      peer.written += count;
      first.lines_written += count;
      if (first.lines_written == all) peer.waiting.pop_front();
    }
    if (peer.written != before) write_count(counts(me, to).written, peer.written);
    return peer.written != before;
  }

  /// Reads what is there; whether anything.
  bool pull(int from) {
    Peer& peer = at(from);
    const int me = transport_.rank();
    const auto written_there = read_count(counts(from, me).written);
    const std::uint64_t written = written_there ? count_from(peer.read, *written_there) : peer.read;
    const std::uint64_t before = peer.read;
    while (peer.read < written) {
      if (!peer.has_header) {
        std::memcpy(&peer.coming.header, line(from, me, peer.read).data(), sizeof(Header));
        peer.coming.block = Context::process().buffers().allocate(peer.coming.header.bytes);
        peer.has_header = true;
        peer.lines_here = 0;
        ++peer.read;
      }
      const std::size_t missing = lines_of(peer.coming.header.bytes) - peer.lines_here;
      const std::size_t count =
          up_to_the_end(peer.read, std::min<std::size_t>(missing, written - peer.read));
      if (count > 0) {
        const std::span<std::byte> rest =
            peer.coming.block.bytes().subspan(peer.lines_here * kLine);
        std::memcpy(rest.data(), line(from, me, peer.read).data(),
                    std::min(count * kLine, rest.size()));
      }
      peer.read += count;
      peer.lines_here += count;
      if (count == missing) deliver(peer);
    }
    if (peer.read != before) write_count(counts(me, from).read, peer.read);
    return peer.read != before;
  }

  static void deliver(Peer& peer) {
    peer.has_header = false;
    if (peer.coming.header.name.number == kDoneNumber)
      peer.done = peer.coming.header.name.wave;
    else
      peer.arrived.push_back(std::move(peer.coming));
    peer.coming = {};
  }

  Transport& transport_;
  std::size_t ring_lines_;
  std::vector<Peer> peers_;  // by rank
  std::uint64_t epoch_ = 0;
  Patience patience_;
};

}  // namespace

std::unique_ptr<Links> make_host_links(Transport& transport) {
  return std::make_unique<HostLinks>(transport);
}

}  // namespace fanin
