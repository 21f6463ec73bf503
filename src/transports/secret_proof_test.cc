#include "transports/secret_proof.h"

#include <gtest/gtest.h>

#include <set>

namespace fanin {
namespace {

std::string hmac(std::string_view key, std::string_view message) {
  return to_hex(hmac_sha256(key, std::as_bytes(std::span(message))));
}

// RFC 4231, cases 1, 2, 3 and 6, and the well-known digest of nothing.
TEST(HmacSha256, GivesTheKnownAnswers) {
  EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(
      hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hmac("", ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

ProofSubject some_subject() {
  ProofSubject subject{.rank = 1, .size = 3, .guest_pid = 100, .rank_zero_pid = 99};
  subject.guest_nonce.fill(std::byte{1});
  subject.rank_zero_nonce.fill(std::byte{2});
  return subject;
}

TEST(Proof, HoldsForWhatItWasMadeFor) {
  const ProofSubject subject = some_subject();
  for (const ProofRole role : {ProofRole::kRankZero, ProofRole::kGuest})
    for (const char* secret : {"", "x", "a longer secret of a job"})
      EXPECT_TRUE(is_proof(prove(secret, role, subject), secret, role, subject));
}

TEST(Proof, DoesNotHoldWithAnotherSecret) {
  const ProofSubject subject = some_subject();
  const Digest proof = prove("secret", ProofRole::kGuest, subject);
  for (const char* other : {"", "secre", "secret ", "Secret"})
    EXPECT_FALSE(is_proof(proof, other, ProofRole::kGuest, subject)) << other;
}

TEST(Proof, CannotBeSentBackToItsMaker) {
  const ProofSubject subject = some_subject();
  EXPECT_FALSE(is_proof(prove("secret", ProofRole::kRankZero, subject), "secret", ProofRole::kGuest,
                        subject));
}

TEST(Proof, IsBoundToAllThatTheSubjectHolds) {
  const Digest proof = prove("secret", ProofRole::kGuest, some_subject());
  const auto holds_after = [&proof](auto change) {
    ProofSubject subject = some_subject();
    change(subject);
    return is_proof(proof, "secret", ProofRole::kGuest, subject);
  };
  EXPECT_TRUE(holds_after([](ProofSubject&) {}));
  EXPECT_FALSE(holds_after([](ProofSubject& subject) { subject.rank = 2; }));
  EXPECT_FALSE(holds_after([](ProofSubject& subject) { subject.size = 4; }));
  EXPECT_FALSE(holds_after([](ProofSubject& subject) { subject.guest_pid = 101; }));
  EXPECT_FALSE(holds_after([](ProofSubject& subject) { subject.rank_zero_pid = 98; }));
  EXPECT_FALSE(holds_after([](ProofSubject& subject) { subject.guest_nonce[31] = std::byte{9}; }));
  EXPECT_FALSE(
      holds_after([](ProofSubject& subject) { subject.rank_zero_nonce[0] = std::byte{9}; }));
  EXPECT_FALSE(holds_after(
      [](ProofSubject& subject) { std::swap(subject.guest_nonce, subject.rank_zero_nonce); }));
}

TEST(Proof, OneWrongBitIsEnough) {
  const ProofSubject subject = some_subject();
  const Digest proof = prove("secret", ProofRole::kGuest, subject);
  for (std::size_t i = 0; i < proof.size(); ++i) {
    Digest wrong = proof;
    wrong[i] ^= std::byte{0x80};
    EXPECT_FALSE(is_proof(wrong, "secret", ProofRole::kGuest, subject)) << "byte " << i;
  }
}

TEST(MakeSecret, GivesAnotherOneEachTime) {
  std::set<std::string> secrets;
  for (int i = 0; i < 100; ++i) secrets.insert(make_secret());
  EXPECT_EQ(secrets.size(), 100U);
  EXPECT_EQ(secrets.begin()->size(), 64U);
  EXPECT_EQ(secrets.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace fanin
