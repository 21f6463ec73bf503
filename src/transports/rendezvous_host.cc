// Rank 0's side of the rendezvous.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/system_error.h"
#include "fanin/error.h"
#include "transports/rendezvous.h"
#include "transports/unix_socket.h"

namespace fanin {
namespace {

// Those who connect and say nothing must not use up our descriptors.
constexpr std::size_t kMostSilent = 64;

struct Refusal {
  ErrorKind kind;
  std::string sentence;
};

bool send_reply(int socket, Reply reply, std::string_view sentence = {}, int file = -1) {
  std::vector<std::byte> bytes(sizeof reply + sentence.size());
  std::memcpy(bytes.data(), &reply, sizeof reply);
  std::ranges::copy(std::as_bytes(std::span(sentence)), bytes.begin() + sizeof reply);
  return send_packet(socket, bytes, file);
}

class Host {
 public:
  Host(const RendezvousOptions& options, HostMemory& memory, int memory_file, WakeOrder order)
      : options_(options),
        memory_(memory),
        memory_file_(memory_file),
        order_(order),
        listener_(options.path),
        seats_(static_cast<std::size_t>(options.size)) {}

  WakeOrder run() {
    while (seated_ + 1 < options_.size) {
      if (Clock::now() >= options_.deadline)
        fail_with<DeadlineExceeded>(fmt::format("rank 0 waited {} at \"{}\", but {}{}",
                                                seconds_since(start_), options_.path.native(),
                                                describe_missing(memory_), last_refusal_));
      serve_once();
    }
    listener_.remove_file();
    const Reply complete{Reply::kComplete, static_cast<std::uint32_t>(order_)};
    for (std::size_t rank = 1; rank < seats_.size(); ++rank)
      send_reply(seats_[rank].get(), complete);
    return order_;
  }

 private:
  template <typename Failure>
  [[noreturn]] void fail_with(const std::string& sentence) {
    const Failure failure(sentence);
    const Reply reply{Reply::kRefused, static_cast<std::uint32_t>(failure.kind())};
    for (const FileDescriptor& seat : seats_)
      if (seat) send_reply(seat.get(), reply, sentence);
    throw failure;
  }

  void serve_once() {
    std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
    for (const FileDescriptor& guest : silent_) entries.push_back({guest.get(), POLLIN, 0});
    for (const FileDescriptor& seat : seats_) entries.push_back({seat.get(), POLLIN, 0});
    const int ready = ::poll(entries.data(), entries.size(),
                             poll_milliseconds(options_.deadline, std::chrono::seconds(1)));
    if (ready < 0 && errno != EINTR)
      throw_errno("waiting for ranks at \"{}\" failed", options_.path.native());
    if (ready <= 0) return;

    const std::size_t silent_count = silent_.size();
    for (std::size_t rank = 1; rank < seats_.size(); ++rank)
      if (entries[1 + silent_count + rank].revents != 0) check_seat(static_cast<int>(rank));
    for (std::size_t i = 0; i < silent_count; ++i)
      if (entries[1 + i].revents != 0) hear(std::move(silent_[i]));
    std::erase_if(silent_, [](const FileDescriptor& guest) { return !guest; });
    if (entries[0].revents != 0) greet();
  }

  void greet() {
    while (FileDescriptor guest = listener_.accept()) {
      if (silent_.size() == kMostSilent) silent_.erase(silent_.begin());
      silent_.push_back(std::move(guest));
    }
  }

  /// A seated rank has nothing to say: if there is something, it is its end.
  void check_seat(int rank) {
    if (!receive_packet(seats_[static_cast<std::size_t>(rank)].get()).bytes.empty()) return;
    fail_with<PeerFailure>(
        fmt::format("rank {} (process {}) went away while the group was still joining at \"{}\"",
                    rank, memory_.process(rank).pid.load(), options_.path.native()));
  }

  void hear(FileDescriptor guest) {
    const Packet packet = receive_packet(guest.get());
    if (packet.bytes.empty()) return;
    Hello hello;
    const bool has_form = packet.bytes.size() == sizeof hello;
    if (has_form) std::memcpy(&hello, packet.bytes.data(), sizeof hello);
    const PeerCredentials credentials = peer_credentials(guest.get());
    std::optional<Refusal> refusal = find_refusal(has_form ? &hello : nullptr, credentials);
    if (refusal) {
      const Reply reply{Reply::kRefused, static_cast<std::uint32_t>(refusal->kind)};
      send_reply(guest.get(), reply, refusal->sentence);
      last_refusal_ = "; turned away: " + std::move(refusal->sentence);
      return;
    }
    if (!send_reply(guest.get(), {Reply::kAdmitted, 0}, {}, memory_file_)) return;
    if (hello.wake_order != static_cast<std::uint32_t>(WakeOrder::kSleeperPays))
      order_ = WakeOrder::kBothPay;
    memory_.process(static_cast<int>(hello.rank))
        .pid.store(static_cast<std::uint32_t>(credentials.pid), std::memory_order_release);
    seats_[hello.rank] = std::move(guest);
    ++seated_;
  }

  std::optional<Refusal> find_refusal(const Hello* hello, PeerCredentials guest) {
    if (hello == nullptr || hello->magic != Hello::kMagic)
      return Refusal{ErrorKind::kBadOption,
                     fmt::format("process {} did not speak as a rank does", guest.pid)};
    if (hello->version != HostHeader::kVersion)
      return Refusal{
          ErrorKind::kRankMismatch,
          fmt::format("process {} speaks version {} of the rendezvous, rank 0 speaks {}; "
                      "use the same Fanin everywhere",
                      guest.pid, hello->version, HostHeader::kVersion)};
    if (guest.uid != ::geteuid())
      return Refusal{ErrorKind::kRankMismatch,
                     fmt::format("process {} belongs to user {}, rank 0 to user {}", guest.pid,
                                 guest.uid, ::geteuid())};
    if (hello->pid != static_cast<std::uint32_t>(guest.pid))
      return Refusal{ErrorKind::kRankMismatch,
                     fmt::format("process {} calls itself {}; ranks in containers with process ids "
                                 "of their own cannot watch each other",
                                 guest.pid, hello->pid)};
    if (std::cmp_not_equal(hello->size, options_.size))
      return Refusal{ErrorKind::kRankMismatch,
                     fmt::format("process {} says that there are {} ranks, rank 0 says {}",
                                 guest.pid, hello->size, options_.size)};
    if (hello->window_bytes != options_.window_bytes)
      return Refusal{ErrorKind::kRankMismatch,
                     fmt::format("process {} wants windows of {} bytes, rank 0 of {}", guest.pid,
                                 hello->window_bytes, options_.window_bytes)};
    if (hello->rank == 0 || std::cmp_greater_equal(hello->rank, options_.size))
      return Refusal{ErrorKind::kRankMismatch,
                     fmt::format("process {} wants to be rank {}; free are those from 1 to {}",
                                 guest.pid, hello->rank, options_.size - 1)};
    if (seats_[hello->rank])
      return Refusal{
          ErrorKind::kRankMismatch,
          fmt::format("process {} wants to be rank {}, which process {} is already", guest.pid,
                      hello->rank, memory_.process(static_cast<int>(hello->rank)).pid.load())};
    return std::nullopt;
  }

  const RendezvousOptions& options_;
  HostMemory& memory_;
  int memory_file_;
  WakeOrder order_;
  ListeningSocket listener_;
  std::vector<FileDescriptor> silent_;  // connected, have not said hello
  std::vector<FileDescriptor> seats_;   // by rank
  int seated_ = 0;
  std::string last_refusal_;
  Deadline start_ = Clock::now();
};

}  // namespace

WakeOrder host_rendezvous(const RendezvousOptions& options, HostMemory& memory, int memory_file,
                          WakeOrder order) {
  return Host(options, memory, memory_file, order).run();
}

}  // namespace fanin
