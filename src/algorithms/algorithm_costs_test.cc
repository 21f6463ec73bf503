// What each algorithm costs, against the closed forms of its papers.

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "fanin/algorithms.h"
#include "fanin/schedule_cost.h"

namespace fanin {
namespace {

ScheduleCost cost_for(std::string_view algorithm, int workers, int devices = 1) {
  return cost_of(build_schedule(
      algorithm, {.topology = {.worker_count = workers, .devices_per_worker = devices}}));
}

double share_sent(const ScheduleCost& cost) { return cost.share(cost.most_sent); }

/// Rounded down.
int log2_of(int number) { return std::bit_width(static_cast<unsigned>(number)) - 1; }

class CostOfRanks : public testing::TestWithParam<int> {
 protected:
  int p() const { return GetParam(); }
  double least_share() const { return 2.0 * (p() - 1) / p(); }
};

TEST_P(CostOfRanks, RingSendsTheLeastInTwiceAround) {
  const ScheduleCost cost = cost_for("ring", p());
  EXPECT_EQ(cost.round_count, 2 * (p() - 1));
  EXPECT_EQ(cost.message_count, 2 * p() * (p() - 1));
  EXPECT_DOUBLE_EQ(share_sent(cost), least_share());
  EXPECT_DOUBLE_EQ(cost.share(cost.most_received), least_share());
  EXPECT_EQ(cost.links.size(), static_cast<std::size_t>(p()));
}

TEST_P(CostOfRanks, DirectSendsTheLeastInTwoRounds) {
  const ScheduleCost cost = cost_for("direct", p());
  EXPECT_EQ(cost.round_count, 2);
  EXPECT_EQ(cost.message_count, 2 * p() * (p() - 1));
  EXPECT_DOUBLE_EQ(share_sent(cost), least_share());
  EXPECT_EQ(cost.links.size(), static_cast<std::size_t>(p() * (p() - 1)));
}

TEST_P(CostOfRanks, OneDeviceSendsEverythingFromOneRank) {
  const ScheduleCost cost = cost_for("one_device", p());
  EXPECT_EQ(cost.round_count, 2);
  EXPECT_EQ(cost.message_count, 2 * (p() - 1));
  EXPECT_DOUBLE_EQ(share_sent(cost), p() - 1);
  EXPECT_DOUBLE_EQ(cost.share(cost.most_received), p() - 1);
}

TEST_P(CostOfRanks, ShuffleGoesThroughHelpersThatHoldTheDataOnce) {
  const ScheduleCost cost = cost_for("shuffle", p());
  EXPECT_EQ(cost.round_count, 2);
  EXPECT_EQ(cost.message_count, 2 * p() * p());
  EXPECT_DOUBLE_EQ(share_sent(cost), 1);
  EXPECT_DOUBLE_EQ(cost.share(cost.scratch_chunks), 1);
}

TEST_P(CostOfRanks, HalvingDoublingSendsTheLeastWherePIsAPowerOfTwo) {
  if (!std::has_single_bit(static_cast<unsigned>(p()))) return;
  const ScheduleCost cost = cost_for("halving_doubling", p());
  EXPECT_EQ(cost.round_count, 2 * log2_of(p()));
  EXPECT_DOUBLE_EQ(share_sent(cost), least_share());
}

TEST_P(CostOfRanks, RecursiveDoublingSendsEverythingInEachRound) {
  if (!std::has_single_bit(static_cast<unsigned>(p()))) return;
  const ScheduleCost cost = cost_for("recursive_doubling", p());
  EXPECT_EQ(cost.round_count, log2_of(p()));
  EXPECT_EQ(cost.message_count, p() * log2_of(p()));
  EXPECT_DOUBLE_EQ(share_sent(cost), log2_of(p()));
}

TEST_P(CostOfRanks, DoubleTreeSendsEachHalfUpAndDownEachTreesEdges) {
  const ScheduleCost cost = cost_for("double_tree", p());
  EXPECT_EQ(cost.round_count, 2 * log2_of(p()));
  EXPECT_EQ(cost.message_count, 2 * 2 * (p() - 1));
  EXPECT_DOUBLE_EQ(cost.share(cost.moved_chunks), 2 * (p() - 1));
}

TEST_P(CostOfRanks, HierarchicalCopyCrossesOnceInThreeRounds) {
  const ScheduleCost cost = cost_for("hierarchical_copy", p());
  EXPECT_EQ(cost.round_count, p() == 2 ? 1 : 3);
  std::int64_t crossing = 0;
  const int half = (p() + 1) / 2;
  for (const LinkLoad& link : cost.links)
    if ((link.from < half) != (link.to < half)) crossing += link.chunks;
  EXPECT_DOUBLE_EQ(cost.share(crossing), 2) << "each half gives its sum to the other";
}

INSTANTIATE_TEST_SUITE_P(OfManyNumbers, CostOfRanks, testing::Values(2, 3, 4, 7, 8, 16, 32));

TEST(CostOnTwoLevels, OnlyOneDeviceOfAWorkerCrossesUnlessBySlices) {
  const auto crossing = [](const ScheduleCost& cost, int devices) {
    std::int64_t most = 0;
    for (const LinkLoad& link : cost.links)
      if (link.from / devices != link.to / devices) most = std::max(most, link.chunks);
    return cost.share(most);
  };
  EXPECT_DOUBLE_EQ(crossing(cost_for("direct/ring", 4, 4), 4), 1.5);
  EXPECT_DOUBLE_EQ(crossing(cost_for("direct//ring", 4, 4), 4), 1.5 / 4);
}

}  // namespace
}  // namespace fanin
