// Rank 0's side of the rendezvous.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/system_error.h"
#include "fanin/context.h"
#include "fanin/error.h"
#include "transports/doorkeeper.h"
#include "transports/rendezvous.h"
#include "transports/rendezvous_packets.h"
#include "transports/unix_socket.h"

namespace fanin {
namespace {

// How many may be at the door at once, besides the ranks: those who connect and do not prove
// themselves must not use up our descriptors.
constexpr std::size_t kMostStrangers = 64;

// How many are let to the door before those who are there are heard again, so that a crowd cannot
// push out a rank that is about to prove itself.
constexpr int kMostAtOnce = 16;

// Whoever knocks without end must not fill the log.
constexpr int kMostWarnings = 10;

struct Newcomer {
  FileDescriptor socket;
  Visitor visitor;
};

bool send_sentence(int socket, ErrorKind kind, std::string_view sentence) {
  return send_packet(socket, make_reply({Reply::kRefused, static_cast<std::uint32_t>(kind)},
                                        std::as_bytes(std::span(sentence))));
}

class Host {
 public:
  Host(const RendezvousOptions& options, HostMemory& memory, int memory_file, WakeOrder order)
      : options_(options),
        memory_(memory),
        memory_file_(memory_file),
        order_(order),
        listener_(options.path, options.deadline),
        doorkeeper_(options, {::getpid(), ::geteuid()}),
        seats_(static_cast<std::size_t>(options.size)) {}

  WakeOrder run() {
    while (!doorkeeper_.is_complete()) {
      if (Clock::now() >= options_.deadline)
        fail_with<DeadlineExceeded>(fmt::format("rank 0 waited {} at \"{}\", but {}{}",
                                                seconds_since(start_), options_.path.native(),
                                                describe_missing(memory_), last_refusal_));
      serve_once();
    }
    listener_.remove_file();
    const auto complete = make_reply({Reply::kComplete, static_cast<std::uint32_t>(order_)});
    for (std::size_t rank = 1; rank < seats_.size(); ++rank)
      send_packet(seats_[rank].get(), complete);
    return order_;
  }

 private:
  template <typename Failure>
  [[noreturn]] void fail_with(const std::string& sentence) {
    const Failure failure(sentence);
    for (const FileDescriptor& seat : seats_)
      if (seat) send_sentence(seat.get(), failure.kind(), sentence);
    throw failure;
  }

  void serve_once() {
    std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
    for (const Newcomer& guest : at_door_) entries.push_back({guest.socket.get(), POLLIN, 0});
    for (const FileDescriptor& seat : seats_) entries.push_back({seat.get(), POLLIN, 0});
    const int ready = ::poll(entries.data(), entries.size(),
                             poll_milliseconds(options_.deadline, std::chrono::seconds(1)));
    if (ready < 0 && errno != EINTR)
      throw_errno("waiting for ranks at \"{}\" failed", options_.path.native());
    if (ready <= 0) return;

    const std::size_t at_door = at_door_.size();
    for (std::size_t rank = 1; rank < seats_.size(); ++rank)
      if (entries[1 + at_door + rank].revents != 0) check_seat(static_cast<int>(rank));
    for (std::size_t i = 0; i < at_door; ++i)
      if (entries[1 + i].revents != 0) hear(at_door_[i]);
    std::erase_if(at_door_, [](const Newcomer& guest) { return !guest.socket; });
    if (entries[0].revents != 0) greet();
  }

  void greet() {
    for (int i = 0; i < kMostAtOnce; ++i) {
      FileDescriptor socket = listener_.accept();
      if (!socket) return;
      if (at_door_.size() == kMostStrangers + seats_.size()) {
        Newcomer& oldest = at_door_.front();
        turn_away(oldest, {ErrorKind::kBadOption,
                           fmt::format("process {} did not prove to be a rank, and others wait",
                                       oldest.visitor.credentials.pid)});
        at_door_.erase(at_door_.begin());
      }
      const PeerCredentials credentials = peer_credentials(socket.get());
      at_door_.push_back({std::move(socket), {credentials}});
    }
  }

  /// A seated rank has nothing to say: if there is something, it is its end.
  void check_seat(int rank) {
    if (!receive_packet(seats_[static_cast<std::size_t>(rank)].get()).bytes.empty()) return;
    fail_with<PeerFailure>(
        fmt::format("rank {} (process {}) went away while the group was still joining at \"{}\"",
                    rank, memory_.process(rank).pid.load(), options_.path.native()));
  }

  /// Takes the next packet of somebody at the door, who then waits on, is seated or is gone.
  void hear(Newcomer& guest) {
    Visitor& visitor = guest.visitor;
    const Packet packet = receive_packet(guest.socket.get());
    if (packet.bytes.empty()) return see_off(guest);
    if (!visitor.hello) {
      if (std::optional<Refusal> refusal = doorkeeper_.hear_hello(visitor, packet.bytes))
        return turn_away(guest, *refusal);
      const Challenge challenge = doorkeeper_.challenge_for(visitor);
      send_packet(guest.socket.get(),
                  make_reply({Reply::kChallenge, 0}, std::as_bytes(std::span(&challenge, 1))));
    } else if (std::optional<Refusal> refusal = doorkeeper_.hear_proof(visitor, packet.bytes)) {
      turn_away(guest, *refusal);
    } else {
      admit(guest);
    }
  }

  void admit(Newcomer& guest) {
    const Hello& hello = *guest.visitor.hello;
    FileDescriptor socket = std::move(guest.socket);
    if (!send_packet(socket.get(), make_reply({Reply::kAdmitted, 0}), memory_file_)) return;
    if (hello.wake_order != static_cast<std::uint32_t>(WakeOrder::kSleeperPays))
      order_ = WakeOrder::kBothPay;
    memory_.process(static_cast<int>(hello.rank)).pid.store(hello.pid, std::memory_order_release);
    doorkeeper_.seat(guest.visitor);
    seats_[hello.rank] = std::move(socket);
  }

  /// Somebody left of their own will. A rank that has another secret leaves when it sees our proof.
  void see_off(Newcomer& guest) {
    guest.socket.reset();
    if (!guest.visitor.hello || options_.secret.empty()) return;
    note(
        fmt::format("process {} wanted to be rank {}, but left without a proof that it knows the "
                    "job's secret",
                    guest.visitor.credentials.pid, guest.visitor.hello->rank));
  }

  void turn_away(Newcomer& guest, const Refusal& refusal) {
    send_sentence(guest.socket.get(), refusal.kind, refusal.sentence);
    guest.socket.reset();
    note(refusal.sentence);
  }

  void note(const std::string& sentence) {
    last_refusal_ = "; turned away: " + sentence;
    if (++warning_count_ > kMostWarnings) return;
    Context::process().warn(
        fmt::format("turned away at \"{}\": {}{}", options_.path.native(), sentence,
                    warning_count_ == kMostWarnings ? " (the last that is told)" : ""));
  }

  const RendezvousOptions& options_;
  HostMemory& memory_;
  int memory_file_;
  WakeOrder order_;
  ListeningSocket listener_;
  Doorkeeper doorkeeper_;
  std::vector<Newcomer> at_door_;
  std::vector<FileDescriptor> seats_;  // by rank
  int warning_count_ = 0;
  std::string last_refusal_;
  Deadline start_ = Clock::now();
};

}  // namespace

WakeOrder host_rendezvous(const RendezvousOptions& options, HostMemory& memory, int memory_file,
                          WakeOrder order) {
  return Host(options, memory, memory_file, order).run();
}

}  // namespace fanin
