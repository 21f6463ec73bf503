// The rendezvous as all ranks but 0 see it.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>

#include "core/system_error.h"
#include "fanin/error.h"
#include "transports/rendezvous.h"
#include "transports/rendezvous_packets.h"
#include "transports/unix_socket.h"

namespace fanin {
namespace {

constexpr std::string_view kToBeAdmitted = "to be admitted";
constexpr std::string_view kSameVersion =
    "use the same version for all ranks, or another rendezvous";

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
    check_user();
    send(say_hello());
    send(answer(receive(Reply::kChallenge, kToBeAdmitted)));
    const Packet admitted = receive(Reply::kAdmitted, kToBeAdmitted);
    memory_.emplace(map(admitted.file.get()));
    const Packet complete = receive(Reply::kComplete, "for the group to be complete");
    return {std::move(*memory_), static_cast<WakeOrder>(read_reply(complete.bytes)->reply.detail)};
  }

 private:
  void connect() {
    constexpr std::chrono::milliseconds kLongestPause(20);
    std::chrono::milliseconds pause(1);
    while (!(socket_ = try_connect(options_.path))) {
      if (Clock::now() >= options_.deadline)
        throw DeadlineExceeded(fmt::format(
            "rank {} waited {}, but found no rank 0 at \"{}\"{}; is it running, with the same "
            "rendezvous path? A group that is complete or has given up takes nobody",
            options_.rank, seconds_since(start_), options_.path.native(), describe_stale_file()));
      std::this_thread::sleep_for(
          std::min<Clock::duration>(pause, options_.deadline - Clock::now()));
      pause = std::min(2 * pause, kLongestPause);
    }
  }

  std::string describe_stale_file() const {
    std::error_code ignored;
    return std::filesystem::exists(options_.path, ignored)
               ? ", only a file that a process left behind which is gone"
               : "";
  }

  /// In a folder that others may write, somebody else could have been there first.
  void check_user() {
    rank_zero_ = peer_credentials(socket_.get());
    if (rank_zero_.uid != ::geteuid())
      throw InvalidArgument(
          ErrorKind::kRankMismatch,
          fmt::format("\"{}\" is served by process {} of user {}, but rank {} belongs to user {}; "
                      "use a path in a folder that only the job's user may write",
                      options_.path.native(), rank_zero_.pid, rank_zero_.uid, options_.rank,
                      ::geteuid()));
  }

  Hello say_hello() {
    subject_ = {.rank = static_cast<std::uint32_t>(options_.rank),
                .size = static_cast<std::uint32_t>(options_.size),
                .guest_pid = static_cast<std::uint32_t>(::getpid()),
                .rank_zero_pid = static_cast<std::uint32_t>(rank_zero_.pid),
                .guest_nonce = make_nonce()};
    Hello hello;
    hello.rank = subject_.rank;
    hello.size = subject_.size;
    hello.pid = subject_.guest_pid;
    hello.window_bytes = options_.window_bytes;
    hello.wake_order = static_cast<std::uint32_t>(order_);
    hello.has_secret = options_.secret.empty() ? 0 : 1;
    hello.nonce = subject_.guest_nonce;
    return hello;
  }

  /// Our proof, which nobody gets who has not given theirs.
  Digest answer(const Packet& packet) {
    const auto challenge = read_exactly<Challenge>(read_reply(packet.bytes)->rest);
    if (!challenge) throw_foreign();
    subject_.rank_zero_nonce = challenge->nonce;
    if (!is_proof(challenge->proof, options_.secret, ProofRole::kRankZero, subject_))
      throw InvalidArgument(
          ErrorKind::kRankMismatch,
          fmt::format("process {} serves \"{}\", but did not prove to rank {} that it knows the "
                      "job's secret; give all ranks the same FANIN_SECRET or FANIN_SECRET_FILE, "
                      "and two jobs two paths",
                      rank_zero_.pid, options_.path.native(), options_.rank));
    return prove(options_.secret, ProofRole::kGuest, subject_);
  }

  /// If it cannot be sent, the answer is that rank 0 is gone.
  template <typename Part>
  void send(const Part& part) {
    send_packet(socket_.get(), std::as_bytes(std::span(&part, 1)));
  }

  Packet receive(Reply::Kind wanted, std::string_view what) {
    pollfd entry{socket_.get(), POLLIN, 0};
    while (::poll(&entry, 1, poll_milliseconds(options_.deadline, std::chrono::seconds(1))) <= 0)
      if (Clock::now() >= options_.deadline)
        throw DeadlineExceeded(fmt::format("rank {} waited {} at \"{}\" {}{}", options_.rank,
                                           seconds_since(start_), options_.path.native(), what,
                                           memory_ ? missing() : unanswered()));
    Packet packet = receive_packet(socket_.get());
    const std::optional<ReplyPacket> read = read_reply(packet.bytes);
    if (!read)
      throw PeerFailure(
          fmt::format("rank 0 (process {}) went away while rank {} waited at \"{}\" {}{}",
                      rank_zero_.pid, options_.rank, options_.path.native(), what, missing()));
    if (read->reply.kind == Reply::kRefused)
      throw_refusal(read->reply.detail, std::string(read->sentence()));
    if (read->reply.kind != wanted) throw_foreign();
    return packet;
  }

  [[noreturn]] void throw_foreign() {
    throw Unavailable(
        fmt::format("process {} serves \"{}\", but does not speak as rank 0 does: it is another "
                    "program, or has another version of Fanin; {}",
                    rank_zero_.pid, options_.path.native(), kSameVersion));
  }

  std::string unanswered() const {
    return fmt::format(
        " by process {}, which serves that path, but does not answer: it is stopped, or another "
        "program; let it go on, end it, or use another rendezvous",
        rank_zero_.pid);
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
      throw Unavailable(
          fmt::format("rank 0 (process {}) at \"{}\" gave no sealed memory of {} bytes: it is "
                      "another program, or has another version of Fanin; {}",
                      rank_zero_.pid, options_.path.native(), bytes, kSameVersion));
    HostMemory memory =
        HostMemory::map_file(file, options_.rank, options_.size, options_.window_bytes);
    const HostHeader& header = memory.header();
    if (header.magic != HostHeader::kMagic || header.version != HostHeader::kVersion)
      throw Unavailable(fmt::format(
          "the shared memory of rank 0 (process {}) at \"{}\" is of another version of Fanin; {}",
          rank_zero_.pid, options_.path.native(), kSameVersion));
    return memory;
  }

  const RendezvousOptions& options_;
  WakeOrder order_;
  FileDescriptor socket_;
  PeerCredentials rank_zero_ = {};
  ProofSubject subject_ = {};
  std::optional<HostMemory> memory_;
  Deadline start_ = Clock::now();
};

}  // namespace

Admission enter_rendezvous(const RendezvousOptions& options, WakeOrder order) {
  return Guest(options, order).run();
}

}  // namespace fanin
