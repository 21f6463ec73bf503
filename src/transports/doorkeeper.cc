#include "transports/doorkeeper.h"

#include <fmt/format.h>

#include <utility>

namespace fanin {
namespace {

constexpr std::string_view kSameSecret =
    "give all ranks the same FANIN_SECRET or FANIN_SECRET_FILE, or none of them";

template <typename... Args>
Refusal mismatch(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::kRankMismatch, fmt::format(format, std::forward<Args>(args)...)};
}

/// The version that a packet names, if it is a hello of any version.
std::optional<std::uint32_t> find_version(std::span<const std::byte> packet) {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  if (packet.size() < sizeof magic + sizeof version) return std::nullopt;
  std::memcpy(&magic, packet.data(), sizeof magic);
  std::memcpy(&version, packet.data() + sizeof magic, sizeof version);
  if (magic != Hello::kMagic) return std::nullopt;
  return version;
}

}  // namespace

Doorkeeper::Doorkeeper(const RendezvousOptions& options, PeerCredentials self)
    : options_(options), self_(self), seats_(static_cast<std::size_t>(options.size)) {}

std::optional<Refusal> Doorkeeper::hear_hello(Visitor& visitor,
                                              std::span<const std::byte> packet) const {
  if (std::optional<Refusal> refusal = find_refusal(packet, visitor.credentials)) return refusal;
  visitor.hello = read_exactly<Hello>(packet);
  visitor.nonce = make_nonce();
  return std::nullopt;
}

Challenge Doorkeeper::challenge_for(const Visitor& visitor) const {
  return {visitor.nonce, prove(options_.secret, ProofRole::kRankZero, subject_of(visitor))};
}

std::optional<Refusal> Doorkeeper::hear_proof(const Visitor& visitor,
                                              std::span<const std::byte> packet) const {
  const std::optional<Digest> proof = read_exactly<Digest>(packet);
  if (!proof || !is_proof(*proof, options_.secret, ProofRole::kGuest, subject_of(visitor)))
    return mismatch(
        "process {} wanted to be rank {}, but did not prove that it knows the job's secret; {}",
        visitor.credentials.pid, visitor.hello->rank, kSameSecret);
  // Somebody else may have been quicker.
  return find_taken_seat(*visitor.hello);
}

void Doorkeeper::seat(const Visitor& visitor) {
  seats_[visitor.hello->rank] = visitor.credentials.pid;
  ++seated_count_;
}

std::optional<Refusal> Doorkeeper::find_refusal(std::span<const std::byte> packet,
                                                PeerCredentials visitor) const {
  if (visitor.uid != self_.uid)
    return mismatch("process {} belongs to user {}, rank 0 to user {}", visitor.pid, visitor.uid,
                    self_.uid);
  const std::optional<std::uint32_t> version = find_version(packet);
  if (version && *version != Hello::kVersion)
    return mismatch(
        "process {} speaks version {} of the rendezvous, rank 0 speaks {}; use the same Fanin "
        "everywhere",
        visitor.pid, *version, Hello::kVersion);
  const std::optional<Hello> hello = read_exactly<Hello>(packet);
  if (!version || !hello)
    return Refusal{ErrorKind::kBadOption,
                   fmt::format("process {} did not speak as a rank does", visitor.pid)};
  if (hello->pid != static_cast<std::uint32_t>(visitor.pid))
    return mismatch(
        "process {} calls itself {}; ranks in containers with process ids of their own cannot "
        "watch each other",
        visitor.pid, hello->pid);
  return find_mismatch(*hello);
}

std::optional<Refusal> Doorkeeper::find_mismatch(const Hello& hello) const {
  if (hello.memory_version != HostHeader::kVersion)
    return mismatch(
        "process {} shares memory by version {}, rank 0 by {}; use the same Fanin everywhere",
        hello.pid, hello.memory_version, HostHeader::kVersion);
  if (hello.has_secret == 0 && !options_.secret.empty())
    return mismatch("process {}, rank {}, has no secret, but rank 0 has one; {}", hello.pid,
                    hello.rank, kSameSecret);
  if (hello.has_secret != 0 && options_.secret.empty())
    return mismatch("process {}, rank {}, has a secret, but rank 0 has none; {}", hello.pid,
                    hello.rank, kSameSecret);
  if (std::cmp_not_equal(hello.size, options_.size))
    return mismatch("process {} says that there are {} ranks, rank 0 says {}", hello.pid,
                    hello.size, options_.size);
  if (hello.window_bytes != options_.window_bytes)
    return mismatch("process {} wants windows of {} bytes, rank 0 of {}", hello.pid,
                    hello.window_bytes, options_.window_bytes);
  if (hello.rank == 0 || std::cmp_greater_equal(hello.rank, options_.size))
    return mismatch("process {} wants to be rank {}; free are those from 1 to {}", hello.pid,
                    hello.rank, options_.size - 1);
  return find_taken_seat(hello);
}

std::optional<Refusal> Doorkeeper::find_taken_seat(const Hello& hello) const {
  const pid_t holder = seats_[hello.rank];
  if (holder == 0) return std::nullopt;
  return mismatch("process {} wants to be rank {}, which process {} is already", hello.pid,
                  hello.rank, holder);
}

ProofSubject Doorkeeper::subject_of(const Visitor& visitor) const {
  return {.rank = visitor.hello->rank,
          .size = visitor.hello->size,
          .guest_pid = visitor.hello->pid,
          .rank_zero_pid = static_cast<std::uint32_t>(self_.pid),
          .guest_nonce = visitor.hello->nonce,
          .rank_zero_nonce = visitor.nonce};
}

}  // namespace fanin
