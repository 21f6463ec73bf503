#include "transports/doorkeeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanin {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr PeerCredentials kRankZero{.pid = 90, .uid = 1000};
constexpr PeerCredentials kGuest{.pid = 91, .uid = 1000};

template <typename Part>
std::span<const std::byte> bytes_of(const Part& part) {
  return std::as_bytes(std::span(&part, 1));
}

class DoorkeeperTest : public testing::Test {
 protected:
  DoorkeeperTest() {
    options_.size = 3;
    options_.window_bytes = 4096;
    options_.secret = "between us";
  }

  static Hello good_hello() {
    Hello hello;
    hello.rank = 1;
    hello.size = 3;
    hello.pid = static_cast<std::uint32_t>(kGuest.pid);
    hello.window_bytes = 4096;
    hello.has_secret = 1;
    hello.nonce.fill(std::byte{7});
    return hello;
  }

  std::string answer_to(std::span<const std::byte> packet, PeerCredentials from = kGuest) const {
    Visitor visitor{from};
    const std::optional<Refusal> refusal =
        Doorkeeper(options_, kRankZero).hear_hello(visitor, packet);
    EXPECT_EQ(visitor.hello.has_value(), !refusal.has_value());
    return refusal ? refusal->sentence : "";
  }

  template <typename Change>
  std::string answer_after(Change change) const {
    Hello hello = good_hello();
    change(hello);
    return answer_to(bytes_of(hello));
  }

  ProofSubject subject_of(const Visitor& visitor) const {
    return {.rank = visitor.hello->rank,
            .size = 3,
            .guest_pid = static_cast<std::uint32_t>(kGuest.pid),
            .rank_zero_pid = static_cast<std::uint32_t>(kRankZero.pid),
            .guest_nonce = visitor.hello->nonce,
            .rank_zero_nonce = visitor.nonce};
  }

  RendezvousOptions options_;
};

TEST_F(DoorkeeperTest, ARankThatProvesItselfIsSeated) {
  Doorkeeper doorkeeper(options_, kRankZero);
  for (const std::uint32_t rank : {1U, 2U}) {
    EXPECT_FALSE(doorkeeper.is_complete());
    Hello hello = good_hello();
    hello.rank = rank;
    Visitor visitor{kGuest};
    ASSERT_FALSE(doorkeeper.hear_hello(visitor, bytes_of(hello)));
    const ProofSubject subject = subject_of(visitor);
    const Challenge challenge = doorkeeper.challenge_for(visitor);
    EXPECT_EQ(challenge.nonce, visitor.nonce);
    EXPECT_TRUE(is_proof(challenge.proof, "between us", ProofRole::kRankZero, subject));
    const Digest proof = prove("between us", ProofRole::kGuest, subject);
    ASSERT_FALSE(doorkeeper.hear_proof(visitor, bytes_of(proof)));
    doorkeeper.seat(visitor);
  }
  EXPECT_TRUE(doorkeeper.is_complete());
}

TEST_F(DoorkeeperTest, ChallengesNobodyTwiceTheSame) {
  const Doorkeeper doorkeeper(options_, kRankZero);
  Visitor one{kGuest}, two{kGuest};
  ASSERT_FALSE(doorkeeper.hear_hello(one, bytes_of(good_hello())));
  ASSERT_FALSE(doorkeeper.hear_hello(two, bytes_of(good_hello())));
  EXPECT_NE(one.nonce, two.nonce);
  // So what was heard from one is no proof of another.
  const Digest proof = prove("between us", ProofRole::kGuest, subject_of(one));
  EXPECT_FALSE(doorkeeper.hear_proof(one, bytes_of(proof)));
  EXPECT_TRUE(doorkeeper.hear_proof(two, bytes_of(proof)));
}

TEST_F(DoorkeeperTest, WhoDoesNotProveItselfIsRefused) {
  const Doorkeeper doorkeeper(options_, kRankZero);
  Visitor visitor{kGuest};
  ASSERT_FALSE(doorkeeper.hear_hello(visitor, bytes_of(good_hello())));
  const ProofSubject subject = subject_of(visitor);
  const Digest wrong = prove("between them", ProofRole::kGuest, subject);
  const Digest sent_back = doorkeeper.challenge_for(visitor).proof;
  const Digest right = prove("between us", ProofRole::kGuest, subject);
  for (const std::span<const std::byte> packet :
       {bytes_of(wrong), bytes_of(sent_back), bytes_of(right).first(31), bytes_of(good_hello())}) {
    const std::optional<Refusal> refusal = doorkeeper.hear_proof(visitor, packet);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->kind, ErrorKind::kRankMismatch);
    EXPECT_THAT(refusal->sentence,
                AllOf(HasSubstr("process 91 wanted to be rank 1, but did not prove that it knows "
                                "the job's secret; give all ranks the same FANIN_SECRET"),
                      Not(HasSubstr("between us"))));
  }
}

TEST_F(DoorkeeperTest, OfTwoWhoAreChallengedTheFirstToProveItselfIsSeated) {
  Doorkeeper doorkeeper(options_, kRankZero);
  Visitor one{kGuest}, two{kGuest};
  ASSERT_FALSE(doorkeeper.hear_hello(one, bytes_of(good_hello())));
  ASSERT_FALSE(doorkeeper.hear_hello(two, bytes_of(good_hello())));
  doorkeeper.seat(one);
  const Digest proof = prove("between us", ProofRole::kGuest, subject_of(two));
  const std::optional<Refusal> refusal = doorkeeper.hear_proof(two, bytes_of(proof));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->sentence, "process 91 wants to be rank 1, which process 91 is already");
}

TEST_F(DoorkeeperTest, ASecretOnOneSideOnlyIsNamed) {
  EXPECT_THAT(answer_after([](Hello& hello) { hello.has_secret = 0; }),
              HasSubstr("process 91, rank 1, has no secret, but rank 0 has one; give all ranks"));
  options_.secret = "";
  EXPECT_THAT(answer_after([](Hello&) {}),
              HasSubstr("process 91, rank 1, has a secret, but rank 0 has none; give all ranks"));
  EXPECT_EQ(answer_after([](Hello& hello) { hello.has_secret = 0; }), "");
}

TEST_F(DoorkeeperTest, EveryMismatchIsASentence) {
  EXPECT_EQ(answer_after([](Hello&) {}), "");
  EXPECT_EQ(answer_to(bytes_of(good_hello()), {.pid = 91, .uid = 33}),
            "process 91 belongs to user 33, rank 0 to user 1000");
  EXPECT_THAT(answer_after([](Hello& hello) { hello.pid = 5; }),
              HasSubstr("process 91 calls itself 5; ranks in containers"));
  EXPECT_EQ(answer_after([](Hello& hello) { hello.size = 4; }),
            "process 91 says that there are 4 ranks, rank 0 says 3");
  EXPECT_EQ(answer_after([](Hello& hello) { hello.window_bytes = 1; }),
            "process 91 wants windows of 1 bytes, rank 0 of 4096");
  for (const std::uint32_t rank : {0U, 3U, ~0U})
    EXPECT_EQ(answer_after([rank](Hello& hello) { hello.rank = rank; }),
              fmt::format("process 91 wants to be rank {}; free are those from 1 to 2", rank));
  EXPECT_THAT(answer_after([](Hello& hello) { hello.memory_version += 1; }),
              AllOf(HasSubstr("process 91 shares memory by version"),
                    HasSubstr("use the same Fanin everywhere")));
}

TEST_F(DoorkeeperTest, AnotherVersionIsNamedHoweverLongItsHelloIs) {
  Hello hello = good_hello();
  hello.version = 1;
  for (const std::size_t length : {std::size_t{12}, std::size_t{40}, sizeof hello})
    EXPECT_EQ(answer_to(bytes_of(hello).first(length)),
              "process 91 speaks version 1 of the rendezvous, rank 0 speaks 2; use the same Fanin "
              "everywhere");
}

TEST_F(DoorkeeperTest, WhatIsNoHelloIsNoneOfARank) {
  const Hello hello = good_hello();
  Hello other = hello;
  other.magic += 1;
  for (const std::span<const std::byte> packet :
       {bytes_of(hello).first(11), bytes_of(hello).first(sizeof hello - 1), bytes_of(other),
        std::span<const std::byte>()})
    EXPECT_EQ(answer_to(packet), "process 91 did not speak as a rank does");
}

}  // namespace
}  // namespace fanin
