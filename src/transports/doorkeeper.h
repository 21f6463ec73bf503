#pragma once

// Rank 0's rules on who is let in. They see packets and what the kernel says of the sender, and no
// socket, so that a test or a fuzzer can be the visitor.

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fanin/error.h"
#include "transports/rendezvous.h"
#include "transports/rendezvous_packets.h"
#include "transports/unix_socket.h"

namespace fanin {

struct Refusal {
  ErrorKind kind;
  std::string sentence;
};

/// Somebody who is at the door.
struct Visitor {
  PeerCredentials credentials;
  std::optional<Hello> hello = {};  // a good one, which was answered with `nonce`
  Nonce nonce = {};
};

class Doorkeeper {
 public:
  /// `self` is the process of rank 0. Keeps a reference to the options.
  Doorkeeper(const RendezvousOptions& options, PeerCredentials self);

  /// The visitor's first packet. Without a refusal the visitor has its hello, and is to be sent
  /// the challenge.
  std::optional<Refusal> hear_hello(Visitor& visitor, std::span<const std::byte> packet) const;
  Challenge challenge_for(const Visitor& visitor) const;

  /// The answer to the challenge. Without a refusal the visitor is to be admitted.
  std::optional<Refusal> hear_proof(const Visitor& visitor,
                                    std::span<const std::byte> packet) const;

  void seat(const Visitor& visitor);
  bool is_complete() const { return seated_count_ == options_.size; }

 private:
  std::optional<Refusal> find_refusal(std::span<const std::byte> packet,
                                      PeerCredentials visitor) const;
  std::optional<Refusal> find_mismatch(const Hello& hello) const;
  std::optional<Refusal> find_taken_seat(const Hello& hello) const;
  ProofSubject subject_of(const Visitor& visitor) const;

  const RendezvousOptions& options_;
  PeerCredentials self_;
  std::vector<pid_t> seats_;  // by rank; 0: free
  int seated_count_ = 1;      // with rank 0
};

}  // namespace fanin
