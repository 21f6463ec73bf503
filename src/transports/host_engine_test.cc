#include "transports/host_engine.h"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "engines/test_engine.h"
#include "fanin/context.h"
#include "transports/in_process.h"

namespace fanin {
namespace {

using testing::ElementsAre;

Buffer block_of(std::size_t bytes, int value) {
  Buffer block = Context::process().buffers().allocate(bytes);
  std::memset(block.bytes().data(), value, bytes);
  return block;
}

/// The next message, which comes sooner or later.
Engine::Arrival next(Engine& engine) {
  for (;;) {
    if (auto arrival = engine.advance()) return std::move(*arrival);
    std::this_thread::yield();
  }
}

class HostEngines : public testing::Test {
 protected:
  // Rank 1 is alone.
  HostEngines() : post_(std::make_shared<test::LoopEngine::Post>(std::vector{0, 1, 0, 0})) {
    auto inside = make_in_process(3, 65536);
    for (int rank = 0; rank < 4; ++rank) {
      auto engine = std::make_unique<test::CountingEngine>(post_, rank);
      between_.push_back(engine.get());
      engines_.push_back(std::move(engine));
    }
    int local_rank = 0;
    for (const int rank : {0, 2, 3}) {
      auto& engine = engines_[static_cast<std::size_t>(rank)];
      engine = make_host_engine(std::move(engine),
                                std::move(inside[static_cast<std::size_t>(local_rank++)]));
    }
  }

  std::shared_ptr<test::LoopEngine::Post> post_;
  std::vector<test::CountingEngine*> between_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

TEST_F(HostEngines, OnlyWhatIsForOtherHostsLeavesTheHost) {
  for (const int peer : {1, 2, 3}) engines_[0]->send(peer, block_of(100, peer));
  EXPECT_THAT(between_[0]->peers, ElementsAre(1));
  for (const int rank : {1, 2, 3}) {
    const Engine::Arrival arrival = next(*engines_[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(arrival.from, 0);
    EXPECT_EQ(arrival.block.size(), 100U);
    EXPECT_EQ(arrival.block.bytes()[99], static_cast<std::byte>(rank));
  }
}

TEST_F(HostEngines, KeepTheOrderOfEachRankAndTheSizeOfEachMessage) {
  const std::vector<std::size_t> sizes{1, 0, 63, 64, 65, 100'000, 7, 200'000, 3};
  std::jthread sender([&] {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      while (!engines_[3]->can_send(0)) engines_[3]->advance();
      engines_[3]->send(0, block_of(sizes[i], static_cast<int>(i)));
    }
    while (!engines_[3]->has_sent_all(0)) engines_[3]->advance();
  });
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Engine::Arrival arrival = next(*engines_[0]);
    EXPECT_EQ(arrival.from, 3);
    ASSERT_EQ(arrival.block.size(), sizes[i]);
    for (const std::byte each : arrival.block.bytes()) ASSERT_EQ(each, static_cast<std::byte>(i));
  }
}

TEST_F(HostEngines, LookNearWithoutAskingTheOthersSoftware) {
  engines_[1]->send(0, block_of(10, 1));
  EXPECT_FALSE(engines_[0]->advance_near());
  engines_[3]->send(0, block_of(10, 3));
  const auto arrival = engines_[0]->advance_near();
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->from, 3);
  EXPECT_EQ(between_[0]->asked_count, 0);
  EXPECT_EQ(next(*engines_[0]).from, 1);
}

TEST(RanksOfHost, AreAscending) {
  const auto engines = test::make_loop_engines({0, 1, 0, 1, 1});
  EXPECT_THAT(ranks_of_host(*engines[2]), ElementsAre(0, 2));
  EXPECT_THAT(ranks_of_host(*engines[1]), ElementsAre(1, 3, 4));
}

}  // namespace
}  // namespace fanin
