#include "transports/secret_proof.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include "core/system_error.h"

namespace fanin {
namespace {

void fill_randomly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != EINTR) throw_errno("asking the system for random bytes failed");
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

/// What is proved, as bytes: every part has a fixed length, so that no two subjects have the same.
struct Statement {
  std::array<char, 12> purpose = {'f', 'a', 'n', 'i', 'n', ' ', 'j', 'o', 'i', 'n', ' ', '1'};
  std::uint32_t role;
  std::uint32_t rank;
  std::uint32_t size;
  std::uint32_t guest_pid;
  std::uint32_t rank_zero_pid;
  Nonce guest_nonce;
  Nonce rank_zero_nonce;
};
static_assert(sizeof(Statement) == 12 + 5 * 4 + 2 * sizeof(Nonce), "no bytes between the parts");

}  // namespace

Digest prove(std::string_view secret, ProofRole role, const ProofSubject& subject) {
  const Statement statement{.role = static_cast<std::uint32_t>(role),
                            .rank = subject.rank,
                            .size = subject.size,
                            .guest_pid = subject.guest_pid,
                            .rank_zero_pid = subject.rank_zero_pid,
                            .guest_nonce = subject.guest_nonce,
                            .rank_zero_nonce = subject.rank_zero_nonce};
  return hmac_sha256(secret, std::as_bytes(std::span(&statement, 1)));
}

bool is_proof(const Digest& proof, std::string_view secret, ProofRole role,
              const ProofSubject& subject) {
  const Digest expected = prove(secret, role, subject);
  return CRYPTO_memcmp(proof.data(), expected.data(), expected.size()) == 0;
}

Digest hmac_sha256(std::string_view key, std::span<const std::byte> message) {
  Digest digest{};
  unsigned int length = 0;
  // For OpenSSL a key without an address is no key, also if it has no bytes.
  if (::HMAC(::EVP_sha256(), key.empty() ? "" : key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(message.data()), message.size(),
             reinterpret_cast<unsigned char*>(digest.data()), &length) == nullptr ||
      length != digest.size())
    throw Unavailable("OpenSSL gave no HMAC-SHA-256; does its configuration forbid it?");
  return digest;
}

Nonce make_nonce() {
  Nonce nonce;
  fill_randomly(nonce);
  return nonce;
}

std::string make_secret() { return to_hex(make_nonce()); }

std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

}  // namespace fanin
