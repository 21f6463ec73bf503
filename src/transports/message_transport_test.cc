// What messages do beyond what all transports do: see conformance_test.cc.

#include "transports/message_transport.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

#include "engines/test_engine.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::CountingEngine;
using testing::ElementsAre;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr int kFlag = Transport::kCallFlags;

/// Two hosts of two ranks.
class Hosts : public testing::Test {
 protected:
  Hosts() {
    const auto post = std::make_shared<test::LoopEngine::Post>(std::vector{0, 0, 2, 2});
    for (int rank = 0; rank < 4; ++rank) {
      auto engine = std::make_unique<CountingEngine>(post, rank);
      engines_.push_back(engine.get());
      transports_.push_back(make_message_transport(std::move(engine)));
    }
  }

  Transport& rank(int number) { return *transports_[static_cast<std::size_t>(number)]; }
  std::vector<int>& sent_by(int number) {
    return engines_[static_cast<std::size_t>(number)]->peers;
  }

  /// Lets everybody hear what has been sent, and pass it on.
  void listen_all() {
    for (int round = 0; round < 3; ++round)
      for (const auto& transport : transports_) transport->listen();
  }

  std::vector<CountingEngine*> engines_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

TEST_F(Hosts, WhatRanksSayCrossesAWireOnce) {
  for (const auto& transport : transports_) {
    transport->message(transport->rank(), kFlag)[0] = static_cast<unsigned>(transport->rank()) + 70;
    transport->window(transport->rank())[5] = static_cast<std::byte>(transport->rank());
    transport->publish(kFlag, 1, transport->window(transport->rank()).subspan(5, 1));
  }
  listen_all();
  for (const auto& transport : transports_)
    for (int peer = 0; peer < 4; ++peer) {
      EXPECT_EQ(transport->peek(peer, kFlag), 1U);
      EXPECT_EQ(transport->message(peer, kFlag)[0], static_cast<unsigned>(peer) + 70);
      EXPECT_EQ(transport->window(peer)[5], static_cast<std::byte>(peer));
    }
  // A neighbour, all to the other host, what comes from there to the neighbour. Of the second host
  // the second rank leads.
  EXPECT_THAT(sent_by(0), UnorderedElementsAre(1, 3, 1));
  EXPECT_THAT(sent_by(1), ElementsAre(0));
  EXPECT_THAT(sent_by(2), ElementsAre(3));
  EXPECT_THAT(sent_by(3), UnorderedElementsAre(2, 0, 2));
}

/// Of four bytes at this place of windows.
constexpr std::size_t kPlace = 8;
std::shared_ptr<const HostSum> sum_of_bytes() {
  return std::make_shared<const HostSum>(
      [](std::span<const std::byte* const> terms, std::byte* sum) {
        for (int i = 0; i < 4; ++i) {
          int all = 0;
          for (const std::byte* const term : terms) all += std::to_integer<int>(term[i]);
          sum[i] = static_cast<std::byte>(all);
        }
      });
}

void say_bytes(Transport& rank, std::uint64_t word = 7) {
  const std::span<std::byte> mine = rank.window(rank.rank()).subspan(kPlace, 4);
  std::ranges::fill(mine, static_cast<std::byte>(rank.rank() + 1));
  rank.message(rank.rank(), kFlag)[0] = word;
  rank.publish_sum(kFlag, 1, mine, sum_of_bytes());
}

/// -1 if it has none.
int sum_at(Transport& rank, int first) {
  const std::byte* const sum = rank.find_sum(first, kFlag, 1, kPlace);
  return sum == nullptr ? -1 : std::to_integer<int>(sum[3]);
}

TEST_F(Hosts, HearTheSumOfEachOther) {
  for (const auto& transport : transports_) say_bytes(*transport);
  listen_all();
  for (const auto& transport : transports_) {
    const int here = transport->rank() / 2 * 2;
    for (int peer = 0; peer < 4; ++peer) {
      EXPECT_EQ(transport->peek(peer, kFlag), 1U);
      EXPECT_EQ(transport->message(peer, kFlag)[0], 7U);
    }
    for (int peer = here; peer < here + 2; ++peer)
      EXPECT_EQ(transport->window(peer)[kPlace], static_cast<std::byte>(peer + 1));
    EXPECT_EQ(sum_at(*transport, 0), here == 0 ? -1 : 3);
    EXPECT_EQ(sum_at(*transport, 2), here == 2 ? -1 : 7);
    EXPECT_EQ(transport->find_sum(2 - here, kFlag, 2, kPlace), nullptr);
    EXPECT_EQ(transport->find_sum(2 - here, kFlag + 1, 1, kPlace), nullptr);
  }
  EXPECT_THAT(sent_by(0), UnorderedElementsAre(1, 3, 1));
}

TEST_F(Hosts, HearAllIfRanksDoNotSayTheSame) {
  say_bytes(rank(0));
  say_bytes(rank(1), 8);
  listen_all();
  for (const int each : {2, 3}) {
    EXPECT_EQ(sum_at(rank(each), 0), -1);
    EXPECT_EQ(rank(each).window(0)[kPlace], std::byte{1});
    EXPECT_EQ(rank(each).window(1)[kPlace], std::byte{2});
    EXPECT_EQ(rank(each).message(1, kFlag)[0], 8U);
  }
}

TEST_F(Hosts, HearAllIfOneDoesNotSum) {
  say_bytes(rank(1));
  const std::span<std::byte> mine = rank(0).window(0).subspan(kPlace, 4);
  rank(0).message(0, kFlag)[0] = 7;
  rank(0).publish(kFlag, 1, mine);  // which leads
  listen_all();
  EXPECT_EQ(sum_at(rank(2), 0), -1);
  EXPECT_EQ(rank(2).window(1)[kPlace], std::byte{2});
}

TEST_F(Hosts, HearWhatWasToldDirectlyAndTheSumAsWell) {
  say_bytes(rank(0));
  EXPECT_THROW(test::wait_for(rank(0), 1, kFlag, 1, Clock::now() + 20ms, "test"), DeadlineExceeded);
  listen_all();
  EXPECT_EQ(rank(2).peek(0, kFlag), 1U);
  EXPECT_EQ(rank(2).window(0)[kPlace], std::byte{1});
  EXPECT_EQ(sum_at(rank(2), 0), -1);
  say_bytes(rank(1));
  listen_all();
  for (const int each : {2, 3}) {
    EXPECT_EQ(rank(each).peek(1, kFlag), 1U);
    EXPECT_EQ(sum_at(rank(each), 0), 3);
  }
}

// An engine takes short messages at once, and asks the receiver about long ones.
TEST_F(Hosts, LongWordsTravelOneByOne) {
  constexpr std::size_t kBytes = 10'000;
  for (const auto& transport : transports_) {
    const std::span<std::byte> mine = transport->window(transport->rank()).first(kBytes);
    std::ranges::fill(mine, static_cast<std::byte>(transport->rank() + 1));
    transport->publish(kFlag, 1, mine);
  }
  listen_all();
  EXPECT_THAT(sent_by(0), UnorderedElementsAre(1, 3, 3, 1, 1));
  for (const auto& transport : transports_)
    for (int peer = 0; peer < 4; ++peer) {
      EXPECT_EQ(transport->peek(peer, kFlag), 1U);
      EXPECT_EQ(transport->window(peer)[kBytes - 1], static_cast<std::byte>(peer + 1));
    }
}

// Whoever leads a host may be anywhere: it has thrown, say.
TEST_F(Hosts, NobodyWaitsForALeaderWhoIsElsewhere) {
  std::jthread second([&] {
    rank(2).publish(kFlag, 1);
    for (const int peer : {0, 1})
      test::wait_for(rank(2), peer, kFlag, 1, Clock::now() + 30s, "test");
  });
  for (const int each : {0, 1}) rank(each).publish(kFlag, 1);
  for (const int each : {1, 0}) test::wait_for(rank(each), 2, kFlag, 1, Clock::now() + 30s, "test");
  // Rank 2 hears nothing by way of rank 3.
  for (const int each : {1, 0}) {
    EXPECT_THROW(test::wait_for(rank(each), 3, kFlag, 1, Clock::now() + 20ms, "test"),
                 DeadlineExceeded);
  }
}

TEST_F(Hosts, WhatComesLateByTheOtherWayIsForgotten) {
  rank(1).publish(Transport::kNoteFlag, 1);
  rank(2).listen();  // next, it will listen to rank 3 first
  rank(1).publish(kFlag, 1);
  EXPECT_THROW(test::wait_for(rank(1), 0, kFlag, 1, Clock::now() + 20ms, "test"), DeadlineExceeded);
  for (const int each : {1, 0}) {
    rank(each).message(each, kFlag)[0] = 5;
    rank(each).publish(kFlag, 2);
    rank(0).listen();
  }
  rank(3).listen();
  rank(2).listen();
  EXPECT_EQ(rank(2).peek(1, kFlag), 2U);
  EXPECT_EQ(rank(2).message(1, kFlag)[0], 5U);
}

TEST_F(Hosts, WhatARankSaidComesBeforeItsLeaving) {
  rank(1).publish(kFlag, 1);  // which rank 0 would pass on
  transports_[1].reset();
  EXPECT_EQ(test::wait_for(rank(3), 1, kFlag, 1, Clock::now() + 30s, "test"), 1U);
}

TEST_F(Hosts, WhatComesOfAnEarlierOpeningIsTooLate) {
  const std::vector<int> members{0, 3};
  const auto before = rank(0).open(9, 9, members, 1);
  before->publish(kFlag, 7);
  const auto now = rank(3).open(9, 9, members, 2);
  rank(3).listen();
  EXPECT_EQ(now->peek(0, kFlag), 0U);
  EXPECT_FALSE(now->is_gone(0));
}

}  // namespace
}  // namespace fanin
