#pragma once

// What is said at a rendezvous, packet by packet:
//   guest    Hello      who it is and what it wants, with a nonce
//   rank 0   Reply      kChallenge and Challenge: its own nonce, and its proof of the secret
//   guest    Digest     its proof
//   rank 0   Reply      kAdmitted, with the descriptor of the shared memory
//   rank 0   Reply      kComplete, when all ranks are there
// Instead of any of its replies rank 0 may say kRefused and a sentence.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transports/host_memory.h"
#include "transports/secret_proof.h"

namespace fanin {

/// A rank's first packet. Magic and version stand first in every version.
struct Hello {
  static constexpr std::uint64_t kMagic = 0x6f6c'6c65'682d'6166;
  static constexpr std::uint32_t kVersion = 2;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t memory_version = HostHeader::kVersion;
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t pid = 0;
  std::uint32_t wake_order = 0;
  std::uint64_t window_bytes = 0;
  std::uint32_t has_secret = 0;
  std::uint32_t unused = 0;
  Nonce nonce = {};
};

/// What rank 0 answers; more may follow in the same packet.
struct Reply {
  enum Kind : std::uint32_t {
    kAdmitted,   // with the shared memory's descriptor
    kRefused,    // `detail` is an ErrorKind, a sentence follows
    kComplete,   // `detail` is the WakeOrder of the group
    kChallenge,  // a Challenge follows
  };
  std::uint32_t kind = kAdmitted;
  std::uint32_t detail = 0;
};

struct Challenge {
  Nonce nonce = {};
  Digest proof = {};
};

/// The packet as a `Part`, if it is as long as that.
template <typename Part>
std::optional<Part> read_exactly(std::span<const std::byte> packet) {
  if (packet.size() != sizeof(Part)) return std::nullopt;
  Part part;
  std::memcpy(&part, packet.data(), sizeof part);
  return part;
}

/// A reply and what follows it.
struct ReplyPacket {
  Reply reply;
  std::span<const std::byte> rest;

  std::string_view sentence() const {
    return {reinterpret_cast<const char*>(rest.data()), rest.size()};
  }
};

/// None if the packet is too short.
inline std::optional<ReplyPacket> read_reply(std::span<const std::byte> packet) {
  if (packet.size() < sizeof(Reply)) return std::nullopt;
  return ReplyPacket{*read_exactly<Reply>(packet.first(sizeof(Reply))),
                     packet.subspan(sizeof(Reply))};
}

inline std::vector<std::byte> make_reply(Reply reply, std::span<const std::byte> rest = {}) {
  std::vector<std::byte> packet(sizeof reply + rest.size());
  std::memcpy(packet.data(), &reply, sizeof reply);
  if (!rest.empty()) std::memcpy(packet.data() + sizeof reply, rest.data(), rest.size());
  return packet;
}

}  // namespace fanin
