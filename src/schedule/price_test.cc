#include "fanin/price.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/expect_error.h"
#include "schedule/test_schedules.h"

namespace fanin {
namespace {

constexpr double kLatency = 5e-6;
constexpr double kBandwidth = 1e9;
constexpr std::size_t kBytes = 6'000'000;
constexpr LinkModel kLink{.latency_seconds = kLatency, .bytes_per_second = kBandwidth};
constexpr double kAll = static_cast<double>(kBytes) / kBandwidth;  // seconds to send all the data

/// Everybody passes it on: place_count - 1 hops.
Schedule chain_of(int rank_count) {
  Schedule schedule{.name = "chain",
                    .goal = Goal::kBroadcast,
                    .root = 0,
                    .rank_count = rank_count,
                    .chunk_count = 1};
  for (int rank = 1; rank < rank_count; ++rank)
    schedule.rounds.push_back({{rank, {0, 1}, {rank - 1}}});
  return schedule;
}

TEST(Price, OfAChainIsPipelinedByBlocks) {
  const Schedule chain = chain_of(6);
  for (const int blocks : {1, 2, 10, 100}) {
    const Price found = price(chain, kBytes, kLink, blocks);
    EXPECT_NEAR(found.seconds, 5 * kLatency + (5 + blocks - 1) * kAll / blocks, 1e-12);
    EXPECT_EQ(found.message_count, 5U * static_cast<unsigned>(blocks));
    EXPECT_EQ(found.hop_count, 5);
    EXPECT_NEAR(found.most_sent_bytes, kBytes, 1e-3);
    EXPECT_NEAR(found.most_received_bytes, kBytes, 1e-3);
  }
}

TEST(Price, OfATreeWaitsForPortsAndNotForRounds) {
  // Ranks 1 and 3 send at once, then 2 sends to 0, then 0 sends three times, one after the other.
  const Price found = price(tree_of_4(), kBytes, kLink);
  EXPECT_NEAR(found.seconds, 3 * kLatency + 5 * kAll, 1e-12);
  EXPECT_EQ(found.hop_count, 3);
  EXPECT_EQ(found.message_count, 6U);
  EXPECT_NEAR(found.latency_seconds(kLink), 3 * kLatency, 1e-12);
  EXPECT_NEAR(found.most_sent_bytes, 3 * kBytes, 1e-3);
  EXPECT_NEAR(found.most_received_bytes, 2 * kBytes, 1e-3);
}

TEST(Price, SendsTheNextMessageWhileTheFirstIsOnItsWay) {
  // The root need not wait for the latency of its first message.
  const Price found = price(broadcast_of_3(), kBytes, kLink);
  EXPECT_NEAR(found.seconds, kLatency + 2 * kAll, 1e-12);
  EXPECT_EQ(found.hop_count, 1);
}

TEST(Price, ReceivesOneAfterTheOther) {
  const Price found = price(reduce_of_3(), kBytes, kLink);
  EXPECT_NEAR(found.seconds, kLatency + 2 * kAll, 1e-12);
}

TEST(Price, IsNothingForAHelperOfTheRankItself) {
  const Schedule schedule =
      parse_schedule(R"(schedule own goal=all_reduce ranks=1 helpers=1 chunks=1
round
1 [0,1) = 0
round
0 [0,1) = 1
)");
  EXPECT_EQ(price(schedule, kBytes, kLink), Price{});
}

TEST(Price, OfHelpersUsesThePortsOfTheirRanks) {
  // Each of ranks 0 and 1 gets a half of the others' data for its helper and gives back the sum;
  // rank 2 has none: in 2 halves out (and in) it is done after rank 0 and 1 sent their 2 halves.
  const Price found = price(servers_for_3(), kBytes, kLink);
  EXPECT_NEAR(found.seconds, 2 * kLatency + 2 * kAll, 1e-12);
  EXPECT_EQ(found.message_count, 8U);
  EXPECT_NEAR(found.most_sent_bytes, 1.5 * kBytes, 1e-3);
}

TEST(Price, OfNothingIsLatencyOnly) {
  const Price found = price(ring_of_3(), 0, kLink);
  EXPECT_DOUBLE_EQ(found.seconds, 4 * kLatency);
  EXPECT_EQ(found.hop_count, 4);
}

TEST(Price, RefusesWhatCannotBe) {
  const Schedule ring = ring_of_3();
  expect_error(ErrorKind::kBadOption, "a latency of -1 seconds cannot be; it is 0 or more", [&] {
    price(ring, 1, {-1, 1});
  });
  expect_error(ErrorKind::kBadOption,
               "a bandwidth of 0 bytes a second cannot be; it is more than 0", [&] {
                 price(ring, 1, {1, 0});
               });
  expect_error(ErrorKind::kBadOption,
               "a bandwidth of nan bytes a second cannot be; it is more than 0", [&] {
                 price(ring, 1, {1, std::numeric_limits<double>::quiet_NaN()});
               });
  for (const int blocks : {0, 4097})
    expect_error(ErrorKind::kBadOption, testing::HasSubstr("blocks cannot be; there are from 1"),
                 [&] { price(ring, 1, kLink, blocks); });
  Schedule lost = ring;
  lost.rounds.pop_back();
  expect_error(ErrorKind::kBadSchedule, testing::StartsWith("ring: rank 1 ends with"),
               [&] { price(lost, 1, kLink); });
}

}  // namespace
}  // namespace fanin
