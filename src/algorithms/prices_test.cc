// Prices against what the literature says of the algorithms, with L the latency, B the bandwidth, n
// the bytes and p the ranks.

#include <gmock/gmock.h>

#include <cmath>

#include "core/expect_error.h"
#include "fanin/algorithms.h"
#include "fanin/price.h"

namespace fanin {
namespace {

constexpr LinkModel kLink{.latency_seconds = 7e-6, .bytes_per_second = 2e9};
constexpr std::size_t kBytes = 12'345'678;
constexpr double kL = kLink.latency_seconds;
constexpr double kNOverB = static_cast<double>(kBytes) / kLink.bytes_per_second;

Price price_of(std::string_view algorithm, int ranks, Goal goal = Goal::kAllReduce) {
  return price(build_schedule(algorithm, {.topology = {.worker_count = ranks}, .goal = goal}),
               kBytes, kLink);
}

TEST(Prices, OfARingAreThoseOfPatarasukAndYuan) {
  for (int p = 1; p <= 17; ++p) {
    const Price found = price_of("ring", p);
    EXPECT_NEAR(found.seconds, 2 * (p - 1) * (kL + kNOverB / p), 1e-10) << p;
    EXPECT_NEAR(found.most_sent_bytes, 2.0 * (p - 1) / p * kBytes, 1e-3);
    EXPECT_EQ(found.hop_count, 2 * (p - 1));
  }
}

TEST(Prices, OfHalvingDoublingAreThoseOfRabenseifner) {
  for (int p = 1, log = 0; p <= 64; p *= 2, ++log) {
    const Price found = price_of("halving_doubling", p);
    EXPECT_NEAR(found.seconds, 2 * log * kL + 2.0 * (p - 1) / p * kNOverB, 1e-10) << p;
    EXPECT_EQ(found.message_count, static_cast<std::size_t>(2 * log * p));
  }
}

TEST(Prices, OfRecursiveDoublingSendAllEachTime) {
  for (int p = 1, log = 0; p <= 64; p *= 2, ++log)
    EXPECT_NEAR(price_of("recursive_doubling", p).seconds, log * (kL + kNOverB), 1e-10) << p;
}

TEST(Prices, OfABroadcastByDoublingAreThoseOfABinomialTree) {
  for (int p = 1, log = 0; p <= 64; p *= 2, ++log) {
    const Price found = price_of("recursive_doubling", p, Goal::kBroadcast);
    EXPECT_NEAR(found.seconds, log * (kL + kNOverB), 1e-10) << p;
    EXPECT_EQ(found.message_count, static_cast<std::size_t>(p - 1));
  }
}

TEST(Prices, OfDirectKeepAllPortsBusyInTwoHops) {
  for (int p = 2; p <= 17; ++p)
    EXPECT_NEAR(price_of("direct", p).seconds, 2 * (kL + (p - 1) * kNOverB / p), 1e-10) << p;
}

TEST(Prices, OfSmallDoubleTreesAreWhatOneCountsByHand) {
  // Two ranks: each is the root of one half.
  EXPECT_NEAR(price_of("double_tree", 2).seconds, 2 * (kL + kNOverB / 2), 1e-10);
  // Three: rank 1 is the root of both. It gets 4 halves and gives 4; the first half is on its way
  // back while the second comes in.
  EXPECT_NEAR(price_of("double_tree", 3).seconds, 2 * kL + 3 * kNOverB, 1e-10);
}

TEST(Prices, OfDoubleTreesHaveTheirHeightTwiceInHops) {
  for (int p = 2; p <= 33; ++p)
    EXPECT_EQ(price_of("double_tree", p).hop_count, 2 * static_cast<int>(std::log2(p))) << p;
}

TEST(Prices, OfOneDeviceAreTheFullDataTwiceForEachOther) {
  for (int p = 2; p <= 9; ++p)
    EXPECT_NEAR(price_of("one_device", p).seconds, 2 * (kL + (p - 1) * kNOverB), 1e-10) << p;
}

TEST(Prices, OfShuffleAreThoseOfDirectWhenHelpersAreAtTheRanks) {
  for (int p = 2; p <= 9; ++p)
    EXPECT_NEAR(price_of("shuffle", p).seconds, price_of("direct", p).seconds, 1e-10) << p;
}

TEST(Prices, DoNotGrowWithBlocksWhereThePortsAreAlwaysBusy) {
  const Schedule tree = build_schedule("double_tree", {.topology = {.worker_count = 15}});
  EXPECT_LT(price(tree, kBytes, kLink, 32).seconds, 0.5 * price(tree, kBytes, kLink).seconds);
  const Schedule direct = build_schedule("direct", {.topology = {.worker_count = 15}});
  EXPECT_LE(price(direct, kBytes, kLink, 8).seconds,
            price(direct, kBytes, kLink).seconds * (1 + 1e-9));
}

TEST(Prices, OfMoreThanCanBeSimulatedAreRefused) {
  const Schedule ring = build_schedule("ring", {.topology = {.worker_count = 64}});
  expect_error(ErrorKind::kBadOption,
               "12096 messages and sums in 4096 blocks each are too many to simulate; use fewer "
               "ranks, or at most 826 blocks",
               [&] { price(ring, kBytes, kLink, 4096); });
}

}  // namespace
}  // namespace fanin
