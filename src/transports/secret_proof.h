#pragma once

// How two processes show each other that they know the job's secret without saying it: each sends a
// nonce and gets back an HMAC over both nonces and over who is who. A proof says who gives it, so
// that it cannot be sent back to its maker, and it is of use in this one meeting only.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fanin {

using Nonce = std::array<std::byte, 32>;
using Digest = std::array<std::byte, 32>;

/// Who gives a proof.
enum class ProofRole : std::uint32_t { kRankZero = 0, kGuest = 1 };

/// What a proof is bound to. The process ids are those that the kernel knows, so that nobody can
/// stand between the two and pass their proofs on.
struct ProofSubject {
  std::uint32_t rank = 0;  // of the guest
  std::uint32_t size = 0;
  std::uint32_t guest_pid = 0;
  std::uint32_t rank_zero_pid = 0;
  Nonce guest_nonce = {};
  Nonce rank_zero_nonce = {};
};

/// What whoever knows `secret` says about `subject`. An empty secret proves nothing.
Digest prove(std::string_view secret, ProofRole role, const ProofSubject& subject);

/// Whether `proof` is what prove() gives. Takes as long for a nearly right one as for any other.
bool is_proof(const Digest& proof, std::string_view secret, ProofRole role,
              const ProofSubject& subject);

/// HMAC-SHA-256 (RFC 2104). Throws Unavailable.
Digest hmac_sha256(std::string_view key, std::span<const std::byte> message);

/// From the system's randomness. Throws Unavailable.
Nonce make_nonce();

/// A new secret for a job: 256 random bits as text.
std::string make_secret();

/// Bytes as small hexadecimal digits.
std::string to_hex(std::span<const std::byte> bytes);

}  // namespace fanin
