#include "transports/message_hub.h"

#include <gmock/gmock.h>

#include "engines/test_engine.h"

namespace fanin {
namespace {

constexpr int kChannel = 0;
constexpr int kFlag = Transport::kCallFlags;

class NearEngine : public test::LoopEngine {
 public:
  using LoopEngine::LoopEngine;
  bool has_near() const override { return true; }
};

/// Three hosts, of two, three and one rank; the first, fourth and last lead.
class Hubs : public testing::Test {
 protected:
  Hubs() {
    constexpr std::array kMembers{0, 1, 2, 3, 4, 5};
    const auto post = std::make_shared<test::LoopEngine::Post>(std::vector{0, 0, 2, 2, 2, 5});
    for (const int rank : kMembers) {
      hubs_.push_back(std::make_unique<MessageHub>(std::make_unique<NearEngine>(post, rank), 4096));
      hubs_.back()->open(kChannel, 1, kMembers);
    }
  }

  MessageHub& hub(int rank) { return *hubs_[static_cast<std::size_t>(rank)]; }

  void say(int rank, std::uint64_t value) {
    hub(rank).say(kChannel, kFlag, value,
                  MessageHub::make_block({.channel = kChannel, .opening = 1, .value = value}, 0));
  }

  std::vector<std::unique_ptr<MessageHub>> hubs_;
};

TEST_F(Hubs, OneRankOfEachHostLeadsNotAlwaysTheFirst) {
  const MessageHub::Channel& channel = hub(0).find_open(kChannel);
  EXPECT_TRUE(channel.leads);
  EXPECT_THAT(channel.leaders, testing::ElementsAre(3, 5));
  EXPECT_THAT(hub(3).find_open(kChannel).leaders, testing::ElementsAre(0, 5));
  for (const int rank : {1, 2, 4}) EXPECT_FALSE(hub(rank).find_open(kChannel).leads);
  for (const int rank : {3, 5}) EXPECT_TRUE(hub(rank).find_open(kChannel).leads);
}

TEST_F(Hubs, WhoDoesNotLeadWaitsForNeighboursOnly) {
  say(2, 1);
  EXPECT_TRUE(hub(2).waits_for_neighbours(kChannel, kFlag));
  EXPECT_FALSE(hub(2).waits_for_neighbours(kChannel, Transport::kNoteFlag));
}

TEST_F(Hubs, WhoLeadsWaitsForNeighboursUntilAllHaveSpoken) {
  for (std::uint64_t value = 1; value <= 2; ++value) {
    say(3, value);
    EXPECT_TRUE(hub(3).waits_for_neighbours(kChannel, kFlag));
    say(2, value);
    hub(3).advance();
    EXPECT_TRUE(hub(3).waits_for_neighbours(kChannel, kFlag));
    say(4, value);
    hub(3).advance();
    EXPECT_FALSE(hub(3).waits_for_neighbours(kChannel, kFlag));
  }
}

TEST(Hub, WhoHearsNeighboursOnlyByTheEngineAsksIt) {
  MessageHub hub(std::move(test::make_loop_engines({0, 0, 2}).at(1)), 4096);
  hub.open(kChannel, 1, std::array{0, 1, 2});
  EXPECT_FALSE(hub.waits_for_neighbours(kChannel, kFlag));
}

TEST_F(Hubs, WhoIsAloneOnItsHostWaitsForNoNeighbour) {
  say(5, 1);
  EXPECT_FALSE(hub(5).waits_for_neighbours(kChannel, kFlag));
}

}  // namespace
}  // namespace fanin
