// The rendezvous as all ranks but 0 see it.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include "core/system_error.h"
#include "fanin/error.h"
#include "transports/rendezvous.h"
#include "transports/unix_socket.h"

namespace fanin {
namespace {

[[noreturn]] void throw_refusal(std::uint32_t kind, const std::string& sentence) {
  if (kind == static_cast<std::uint32_t>(ErrorKind::kTimeout)) throw DeadlineExceeded(sentence);
  if (kind == static_cast<std::uint32_t>(ErrorKind::kPeerDied)) throw PeerFailure(sentence);
  throw InvalidArgument(ErrorKind::kRankMismatch, sentence);
}

class Guest {
 public:
  Guest(const RendezvousOptions& options, WakeOrder order) : options_(options), order_(order) {}

  Admission run() {
    connect();
    say_hello();
    const Packet admitted = receive(Reply::kAdmitted, "to be admitted");
    memory_.emplace(map(admitted.file.get()));
    const Packet complete = receive(Reply::kComplete, "for the group to be complete");
    Reply reply;
    std::memcpy(&reply, complete.bytes.data(), sizeof reply);
    return {std::move(*memory_), static_cast<WakeOrder>(reply.detail)};
  }

 private:
  void connect() {
    constexpr std::chrono::milliseconds kLongestPause(20);
    std::chrono::milliseconds pause(1);
    while (!(socket_ = try_connect(options_.path))) {
      if (Clock::now() >= options_.deadline)
        throw DeadlineExceeded(fmt::format(
            "rank {} waited {}, but found no rank 0 at \"{}\"; is it running, with the same "
            "rendezvous path?",
            options_.rank, seconds_since(start_), options_.path.native()));
      std::this_thread::sleep_for(
          std::min<Clock::duration>(pause, options_.deadline - Clock::now()));
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  void say_hello() {
    Hello hello;
    hello.rank = static_cast<std::uint32_t>(options_.rank);
    hello.size = static_cast<std::uint32_t>(options_.size);
    hello.pid = static_cast<std::uint32_t>(::getpid());
    hello.window_bytes = options_.window_bytes;
    hello.wake_order = static_cast<std::uint32_t>(order_);
    // If it cannot be sent, the answer is that rank 0 is gone.
    send_packet(socket_.get(), std::as_bytes(std::span(&hello, 1)));
  }

  Packet receive(Reply::Kind wanted, std::string_view what) {
    pollfd entry{socket_.get(), POLLIN, 0};
    while (::poll(&entry, 1, poll_milliseconds(options_.deadline, std::chrono::seconds(1))) <= 0)
      if (Clock::now() >= options_.deadline)
        throw DeadlineExceeded(fmt::format("rank {} waited {} at \"{}\" {}{}", options_.rank,
                                           seconds_since(start_), options_.path.native(), what,
                                           missing()));
    Packet packet = receive_packet(socket_.get());
    Reply reply;
    if (packet.bytes.size() < sizeof reply)
      throw PeerFailure(
          fmt::format("rank 0 (process {}) went away while rank {} waited at \"{}\" {}{}",
                      peer_credentials(socket_.get()).pid, options_.rank, options_.path.native(),
                      what, missing()));
    std::memcpy(&reply, packet.bytes.data(), sizeof reply);
    if (reply.kind == Reply::kRefused)
      throw_refusal(reply.detail,
                    std::string(reinterpret_cast<const char*>(packet.bytes.data()) + sizeof reply,
                                packet.bytes.size() - sizeof reply));
    if (reply.kind != wanted)
      throw Unavailable(fmt::format("whoever serves \"{}\" does not speak as rank 0 does",
                                    options_.path.native()));
    return packet;
  }

  std::string missing() {
    const std::string sentence = memory_ ? describe_missing(*memory_) : "";
    return sentence.empty() ? "" : "; " + sentence;
  }

  /// What rank 0 gave must be what it promised: later, a file that shrinks would be a crash.
  HostMemory map(int file) {
    struct stat status {};
    constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    const std::size_t bytes = HostMemory::bytes_for(options_.size, options_.window_bytes);
    if (::fstat(file, &status) != 0 || std::cmp_not_equal(status.st_size, bytes) ||
        (::fcntl(file, F_GET_SEALS) & kSeals) != kSeals)
      throw Unavailable(fmt::format("rank 0 at \"{}\" gave no sealed memory of {} bytes",
                                    options_.path.native(), bytes));
    HostMemory memory =
        HostMemory::map_file(file, options_.rank, options_.size, options_.window_bytes);
    const HostHeader& header = memory.header();
    if (header.magic != HostHeader::kMagic || header.version != HostHeader::kVersion)
      throw Unavailable(fmt::format("the shared memory of rank 0 at \"{}\" is of another Fanin",
                                    options_.path.native()));
    return memory;
  }

  const RendezvousOptions& options_;
  WakeOrder order_;
  FileDescriptor socket_;
  std::optional<HostMemory> memory_;
  Deadline start_ = Clock::now();
};

}  // namespace

Admission enter_rendezvous(const RendezvousOptions& options, WakeOrder order) {
  return Guest(options, order).run();
}

}  // namespace fanin
